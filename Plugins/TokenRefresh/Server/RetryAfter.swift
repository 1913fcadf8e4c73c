import FoundationEssentials

/// The `Retry-After` header (RFC 9110 §10.2.3): seconds, or a date.
enum RetryAfter {
  /// Longest wait that is believed: a day. A server that asks for more is asked again after a day.
  static let longest = Duration.seconds(86_400)

  /// - Parameters:
  ///   - value: The header's value.
  ///   - date: The answer's `Date` header. A date in `value` is measured against it, so that a wrong clock on this side does no harm.
  ///   - now: The time here, for when there is no usable `Date` header.
  /// - Returns: How long to wait, 0 to ``longest``; nil when there is no such header or it cannot be understood.
  static func parse(_ value: String?, date: String?, now: Date) -> Duration? {
    guard let value else { return nil }
    if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return min(Int64(value).map { .seconds(min($0, 86_400)) } ?? longest, longest)
    }
    guard let until = HTTPDate.parse(value) else { return nil }
    let reference = date.flatMap(HTTPDate.parse) ?? now
    return min(.seconds(max(0, until.timeIntervalSince(reference))), longest)
  }
}
