import Foundation

/// How wide an interpolated value is at least, and on which side it is filled with spaces.
public struct OSLogStringAlignment: Sendable {
  private let columns: Int
  private let isRight: Bool

  /// As it is.
  public static let none = OSLogStringAlignment(columns: 0, isRight: false)

  /// Spaces before the value.
  public static func right(columns: Int) -> OSLogStringAlignment { OSLogStringAlignment(columns: columns, isRight: true) }

  /// Spaces after the value.
  public static func left(columns: Int) -> OSLogStringAlignment { OSLogStringAlignment(columns: columns, isRight: false) }

  func pad(_ text: String) -> String {
    // A line has at most 8 KiB.
    let missing = min(columns, 1024) - text.count
    guard missing > 0 else { return text }
    let spaces = String(repeating: " ", count: missing)
    return isRight ? spaces + text : text + spaces
  }
}

/// How an interpolated whole number is written.
public struct OSLogIntegerFormatting: Sendable {
  private let radix: Int
  private let prefix: String
  private let uppercase: Bool
  private let minimumDigits: Int

  private init(radix: Int, prefix: String = "", uppercase: Bool = false, minimumDigits: Int = 0) {
    self.radix = radix
    self.prefix = prefix
    self.uppercase = uppercase
    self.minimumDigits = minimumDigits
  }

  /// In decimal.
  public static let decimal = OSLogIntegerFormatting(radix: 10)
  /// In decimal, with at least that many digits.
  public static func decimal(minDigits: Int) -> OSLogIntegerFormatting { OSLogIntegerFormatting(radix: 10, minimumDigits: minDigits) }
  /// In hexadecimal.
  public static let hex = OSLogIntegerFormatting(radix: 16)
  /// In hexadecimal, with a prefix 0x, or with capital letters.
  public static func hex(explicitPositiveSign: Bool = false, includePrefix: Bool = false, uppercase: Bool = false, minDigits: Int = 0)
    -> OSLogIntegerFormatting
  {
    OSLogIntegerFormatting(radix: 16, prefix: includePrefix ? "0x" : "", uppercase: uppercase, minimumDigits: minDigits)
  }
  /// In octal.
  public static let octal = OSLogIntegerFormatting(radix: 8)

  func text(of number: some FixedWidthInteger) -> String {
    let digits = String(number.magnitude, radix: radix, uppercase: uppercase)
    let zeros = String(repeating: "0", count: max(0, min(minimumDigits, 128) - digits.count))
    return (number < 0 ? "-" : "") + prefix + zeros + digits
  }
}

/// How an interpolated number is written.
public struct OSLogFloatFormatting: Sendable {
  private let conversion: String
  private let precision: Int

  private static func make(_ conversion: String, _ precision: Int) -> OSLogFloatFormatting {
    OSLogFloatFormatting(conversion: conversion, precision: max(0, min(precision, 64)))
  }

  /// With six digits after the point.
  public static let fixed = make("f", 6)
  /// With that many digits after the point.
  public static func fixed(precision: Int) -> OSLogFloatFormatting { make("f", precision) }
  /// With an exponent.
  public static let exponential = make("e", 6)
  /// With an exponent, and that many digits after the point.
  public static func exponential(precision: Int) -> OSLogFloatFormatting { make("e", precision) }
  /// The shorter of both.
  public static let hybrid = make("g", 6)
  /// The shorter of both, with that many digits.
  public static func hybrid(precision: Int) -> OSLogFloatFormatting { make("g", precision) }

  func text(of number: Double) -> String { String(format: "%.\(precision)\(conversion)", number) }
}

/// How an interpolated Boolean is written.
public enum OSLogBoolFormat: Sendable {
  /// `true` or `false`.
  case truth
  /// `YES` or `NO`.
  case answer

  func text(of value: Bool) -> String {
    switch self {
    case .truth: value ? "true" : "false"
    case .answer: value ? "YES" : "NO"
    }
  }
}
