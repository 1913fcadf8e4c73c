/// The name of a schedule in the configuration: its identifier, and a name of its own where the identifier has several.
public struct ScheduleName: Sendable, Hashable, CustomStringConvertible {
  /// Longest own name in bytes.
  public static let longest = 64

  /// The task identifier.
  public let identifier: TaskIdentifier
  /// `NAME` of `[schedule."ID/NAME"]`; nil for the `schedule` in the identifier's table.
  public let name: String?

  /// The name of the `schedule` in the table of an identifier.
  public init(_ identifier: TaskIdentifier) { (self.identifier, name) = (identifier, nil) }

  /// Reads `ID/NAME`; nil for anything else. A name has 1 to ``longest`` of A-Z a-z 0-9 . _ -.
  public init?(_ text: String) {
    guard let slash = text.firstIndex(of: "/"), let identifier = try? TaskIdentifier(String(text[..<slash])) else { return nil }
    self.init(identifier, name: String(text[text.index(after: slash)...]))
  }

  /// The schedule whose request holds a unique key; nil if the key has not come from the configuration.
  public init?(key: String?, of identifier: TaskIdentifier) {
    guard let key, key.hasPrefix(TaskRequest.scheduleKeyPrefix) else { return nil }
    let named = key.dropFirst(TaskRequest.scheduleKeyPrefix.count)
    guard named.hasPrefix(identifier.rawValue) else { return nil }
    let rest = named.dropFirst(identifier.rawValue.count)
    if rest.isEmpty {
      self.init(identifier)
    } else {
      guard rest.hasPrefix("/") else { return nil }
      self.init(identifier, name: String(rest.dropFirst()))
    }
  }

  private init?(_ identifier: TaskIdentifier, name: String) {
    let isName = name.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
    }
    guard isName, (1...Self.longest).contains(name.utf8.count) else { return nil }
    (self.identifier, self.name) = (identifier, name)
  }

  /// The unique key of its request, which no submission may hold.
  public var uniqueKey: String { TaskRequest.scheduleKeyPrefix + description }

  /// `ID`, or `ID/NAME`.
  public var description: String { name.map { "\(identifier)/\($0)" } ?? identifier.rawValue }
}
