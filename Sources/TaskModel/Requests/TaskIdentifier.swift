/// The name of a task and, through it, of the one handler that serves it: 1–128 of `A-Z a-z 0-9 . _ -`, the first a letter or digit.
public struct TaskIdentifier: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The identifier as text.
  public let rawValue: String

  /// Creates an identifier if `text` follows the rule above.
  public init(_ text: String) throws(InvalidIdentifier) {
    let bytes = text.utf8
    guard let first = bytes.first else { throw InvalidIdentifier(text: text, flaw: "is empty") }
    guard bytes.count <= 128 else { throw InvalidIdentifier(text: text, flaw: "has \(bytes.count) bytes, more than 128") }
    guard Self.isLetterOrDigit(first) else {
      throw InvalidIdentifier(text: text, flaw: "does not begin with a letter or digit")
    }
    for byte in bytes
    where !Self.isLetterOrDigit(byte) && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "_") && byte != UInt8(ascii: "-") {
      throw InvalidIdentifier(text: text, flaw: "has a character other than A-Z a-z 0-9 . _ -")
    }
    rawValue = text
  }

  /// An identifier that this source code names, and that follows the rule.
  private init(known text: StaticString) { rawValue = "\(text)" }

  /// The plugin that carries out background transfers.
  public static let transfers = TaskIdentifier(known: "org.taskhost.transfers")

  /// Under which the scheduler keeps what people were told. With a point and the name of a rule, the identifier of that rule's
  /// notifications.
  public static let notifications = TaskIdentifier(known: "org.taskhost.notify")

  /// A unique key among those of this identifier alone, where requests of several plugins have one identifier. No other identifier has it:
  /// none has a slash.
  public func scoped(_ key: String) -> String { "\(rawValue)/\(key)" }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// The text.
  public var description: String { rawValue }

  /// Orders by the text.
  public static func < (left: TaskIdentifier, right: TaskIdentifier) -> Bool { left.rawValue < right.rawValue }
}

/// A text that is not a ``TaskIdentifier``.
public struct InvalidIdentifier: Error, Sendable, Equatable, CustomStringConvertible {
  /// The rejected text. ``description`` cuts it to 160 characters and escapes control characters.
  public let text: String
  /// What is wrong with the text: "is empty", …
  public let flaw: String

  /// The text, what is wrong with it, and what is allowed.
  public var description: String {
    let shown = String(text.prefix(160)).escapingControlCharacters
    return "identifier \"\(shown)\" \(flaw); use 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or digit"
  }
}
