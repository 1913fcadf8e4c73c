/// An entry of a list of events: a complete name, or the beginning of a name followed by `*`.
public struct EventPattern: Sendable, Hashable, CustomStringConvertible {
  /// The pattern as written, including its final `*`.
  public let text: String

  /// Creates a pattern. Throws if no event that a client may raise can match it.
  public init(_ text: String) throws(RequestRefusal) {
    let beginning = text.hasSuffix("*") ? String(text.dropLast()) : text
    if HostEvents.isRaised(beginning) {
      throw RequestRefusal(.invalid, "events that begin with host:, condition: or task: are the host's own")
    }
    if text != "*", let flaw = EventTrigger.flaw(of: beginning) { throw RequestRefusal(.invalid, flaw) }
    self.text = text
  }

  /// Whether the pattern covers an event's name.
  public func matches(_ event: String) -> Bool { text.hasSuffix("*") ? event.hasPrefix(text.dropLast()) : event == text }

  /// Whether the pattern covers every name that `other` covers.
  public func covers(_ other: EventPattern) -> Bool {
    text.hasSuffix("*") ? other.text.utf8.starts(with: text.utf8.dropLast()) : text == other.text
  }

  /// The pattern as written.
  public var description: String { text }
}
