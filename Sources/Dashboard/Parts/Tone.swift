import TaskModel

/// The colour of a status, beside its word.
enum Tone: String {
  case good, bad, live, wait, quiet

  /// The colour of a state, an outcome or a plugin's health.
  init(of word: String) {
    switch word {
    case "succeeded", "noop", "registered", "launched", "holds", "ok": self = .good
    case "failed", "crashed", "expired", "refused", "unapproved", "quarantined", "failing": self = .bad
    case "running": self = .live
    case "retried", "snoozed", "stopped", "stopping", "lost", "blocked", "paused", "suspended", "held", "draining", "does not hold":
      self = .wait
    default: self = .quiet
    }
  }
}

extension View {
  /// A status: its word and its colour.
  init(badge word: String, tone: Tone? = nil) {
    self = ["word": word.replacing("_", with: " "), "tone": (tone ?? Tone(of: word)).rawValue]
  }
}

extension RequestRecord {
  /// The word for people.
  var word: String {
    if stopRequested != nil { return "stopping" }
    if paused != nil, !state.isFinal { return "paused" }
    return state.shown.rawValue
  }
}

extension RunRecord {
  /// The word for people.
  var word: String { outcome?.rawValue ?? (report.stopReason == nil ? "running" : "stopping") }
  var tone: Tone { outcome == nil ? .live : Tone(of: word) }
}
