import Glibc

/// The `Retry-After` header (RFC 9110 §10.2.3): seconds, or a date.
public enum RetryAfter {
  /// The longest accepted wait: a day. If a server requests more, it is asked again after a day.
  public static let longest = Duration.seconds(86_400)

  /// - Parameters:
  ///   - value: The header's value.
  ///   - date: The answer's `Date` header. A date in `value` is relative to it, so that a wrong local clock does no harm.
  ///   - now: The local time in seconds since 1970, used if there is no usable `Date` header.
  /// - Returns: The wait, 0 to ``longest``; nil if the header is missing or cannot be understood.
  public static func parse(_ value: String?, date: String?, now: Int64) -> Duration? {
    guard let value else { return nil }
    if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // A number too large for an Int64 is longer than a day too.
      return HeaderNumber.read(value).map { min(.seconds(min($0, 86_400)), longest) } ?? longest
    }
    guard let until = HTTPDate.parse(value) else { return nil }
    let reference = date.flatMap(HTTPDate.parse) ?? now
    let (wait, isTooLarge) = until.subtractingReportingOverflow(reference)
    return isTooLarge ? nil : .seconds(min(max(0, wait), 86_400))
  }
}

extension TransferHead {
  /// How long the server asks to wait before another attempt, at most ``RetryAfter/longest``; nil if it does not say.
  public var retryAfter: Duration? {
    RetryAfter.parse(values("retry-after").first, date: values("date").first, now: Int64(time(nil)))
  }
}
