/// A value that must never reach a log, a message or an output, such as a token or a client secret.
///
/// Every way of turning it into text prints `[redacted]`; ``reveal()`` is the only way to the text itself, so its uses can be found.
/// It is deliberately neither `Codable` nor `Hashable`.
struct Secret: Sendable, Equatable {
  private let text: String

  init(_ text: String) {
    self.text = text
  }

  /// The text itself, for a request to the token endpoint or for the token file, and for nothing else.
  func reveal() -> String { text }
}

/// A value that reveals none of its content when it is printed.
protocol Undisclosed: CustomStringConvertible, CustomReflectable {}

extension Undisclosed {
  var description: String { "\(Self.self) [redacted]" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Secret: Undisclosed, CustomDebugStringConvertible {
  var description: String { "[redacted]" }
  var debugDescription: String { "[redacted]" }
}
