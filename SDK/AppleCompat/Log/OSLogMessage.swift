public import Foundation

/// The text of a log line: a literal with interpolated values, each of which can be private.
///
/// ```swift
/// logger.info("fetched \(count) articles for \(user, privacy: .private) from \(host, privacy: .public)")
/// ```
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
  let text: String

  /// A text without values.
  public init(stringLiteral value: String) { text = value }

  /// A text with values.
  public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}

/// The parts of an ``OSLogMessage``.
public struct OSLogInterpolation: StringInterpolationProtocol, Sendable {
  var text = ""

  /// Creates an empty text.
  public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity + interpolationCount * 8) }

  /// Adds the text between values.
  public mutating func appendLiteral(_ literal: String) { text += literal }

  /// Adds a string, which is private by default.
  public mutating func appendInterpolation(
    _ argument: @autoclosure () -> String, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
  ) { add(privacy.redact(argument(), isScalar: false), align) }

  /// Adds a value by its description, which is private by default. Numbers have a description too, but are public by default: their
  /// functions come first.
  @_disfavoredOverload
  public mutating func appendInterpolation<Value: CustomStringConvertible>(
    _ argument: @autoclosure () -> Value, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
  ) { add(privacy.redact(argument().description, isScalar: false), align) }

  /// Adds an error, which is private by default.
  public mutating func appendInterpolation(_ argument: @autoclosure () -> (any Error)?, privacy: OSLogPrivacy = .auto) {
    add(privacy.redact(argument().map { String(describing: $0) } ?? "nil", isScalar: false), .none)
  }

  /// Adds an object, which is private by default.
  public mutating func appendInterpolation(_ argument: @autoclosure () -> NSObject?, privacy: OSLogPrivacy = .auto) {
    add(privacy.redact(argument()?.description ?? "(null)", isScalar: false), .none)
  }

  /// Adds the name of a type, which is public by default.
  public mutating func appendInterpolation(
    _ argument: @autoclosure () -> Any.Type, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
  ) { add(privacy.redact(String(describing: argument()), isScalar: true), align) }

  /// Adds a whole number, which is public by default.
  public mutating func appendInterpolation<Number: FixedWidthInteger>(
    _ argument: @autoclosure () -> Number, format: OSLogIntegerFormatting = .decimal, align: OSLogStringAlignment = .none,
    privacy: OSLogPrivacy = .auto
  ) { add(privacy.redact(format.text(of: argument()), isScalar: true), align) }

  /// Adds a number, which is public by default.
  public mutating func appendInterpolation(
    _ argument: @autoclosure () -> Double, format: OSLogFloatFormatting = .fixed, align: OSLogStringAlignment = .none,
    privacy: OSLogPrivacy = .auto
  ) { add(privacy.redact(format.text(of: argument()), isScalar: true), align) }

  /// Adds a number, which is public by default.
  public mutating func appendInterpolation(
    _ argument: @autoclosure () -> Float, format: OSLogFloatFormatting = .fixed, align: OSLogStringAlignment = .none,
    privacy: OSLogPrivacy = .auto
  ) { add(privacy.redact(format.text(of: Double(argument())), isScalar: true), align) }

  /// Adds a Boolean, which is public by default.
  public mutating func appendInterpolation(
    _ argument: @autoclosure () -> Bool, format: OSLogBoolFormat = .truth, privacy: OSLogPrivacy = .auto
  ) { add(privacy.redact(format.text(of: argument()), isScalar: true), .none) }

  private mutating func add(_ value: String, _ align: OSLogStringAlignment) { text += align.pad(value) }
}
