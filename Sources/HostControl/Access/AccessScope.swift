public import TaskModel

/// Which identifiers a client may see and change.
public struct AccessScope: Sendable, Hashable, CustomStringConvertible {
  /// Patterns of identifiers; empty: all, and the host itself.
  public let patterns: [IdentifierPattern]

  /// Everything.
  public static let all = AccessScope([])

  /// Creates a scope of what one of the patterns covers; without patterns, of everything.
  public init(_ patterns: [IdentifierPattern]) { self.patterns = patterns }

  /// Whether it leaves nothing out, so that the host itself is in it.
  public var isAll: Bool { patterns.isEmpty }

  func contains(_ identifier: TaskIdentifier) -> Bool { isAll || patterns.contains { $0.matches(identifier) } }

  /// Whether an event may be raised. Names of events are compared with the patterns as identifiers are, byte for byte.
  func contains(event name: String) -> Bool {
    isAll
      || patterns.contains { pattern in
        pattern.text.hasSuffix("*") ? name.utf8.starts(with: pattern.text.utf8.dropLast()) : name.utf8.elementsEqual(pattern.text.utf8)
      }
  }

  /// `com.example.*, org.example.sync`
  public var description: String { isAll ? "all" : patterns.map(\.text).joined(separator: ", ") }
}
