/// Selects pauses to end.
public enum PauseSelection: Sendable, Hashable {
  /// The one with this number.
  case id(PauseID)
  /// Those with this filter, as it was written except for blanks; an empty one: those of everything.
  case filter(String)
  /// All.
  case all

  /// Whether a pause is selected.
  public func selects(_ pause: Pause) -> Bool {
    switch self {
    case .id(let id): pause.id == id
    case .filter(let text): Self.terms(text) == Self.terms(pause.order.filter)
    case .all: true
    }
  }

  private static func terms(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" } }
}
