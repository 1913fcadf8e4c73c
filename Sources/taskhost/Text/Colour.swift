/// A colour on a terminal.
enum Colour: Int {
  case red = 31
  case green = 32
  case yellow = 33
  case blue = 34
  case grey = 90

  /// What a state, an outcome or a standing looks like; nil: plain.
  init?(of word: String) {
    switch word {
    case "succeeded", "noop", "registered", "nothing to do", "yes": self = .green
    case "failed", "crashed", "refused", "expired", "quarantined": self = .red
    case "running", "launched": self = .blue
    case "retried", "snoozed", "stopped", "lost", "suspended", "held", "blocked", "draining", "no": self = .yellow
    case "cancelled", "never ran": self = .grey
    default: return nil
    }
  }

  /// The text in that colour.
  func paint(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}
