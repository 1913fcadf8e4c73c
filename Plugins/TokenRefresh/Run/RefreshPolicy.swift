import FoundationEssentials

/// Decides when an access token is due for a refresh.
enum RefreshPolicy {
  /// The assumed lifetime if neither the file nor the server states one: an hour, as with most servers.
  static let assumedLifetime: TimeInterval = 3600
  /// The margin if it is a share of the lifetime, but the file does not state when the lifetime began: 5 minutes.
  static let assumedMargin: TimeInterval = 300
  /// The maximum share of a known lifetime for a fixed margin, so that a new token is not due at once.
  static let largestShare = 0.9
  /// If a token was issued further in the future than this, the clock was set back and the token's times mean nothing: 5 minutes.
  static let clockTolerance: TimeInterval = 300

  /// The time when the token becomes due; a past time if it is due. `distantPast` if there is no token, or its times are unknown.
  static func dueDate(_ file: TokenFile, margin: RefreshMargin, now: Date) -> Date {
    guard file.accessToken != nil else { return .distantPast }
    if let issued = file.issuedAt, issued.timeIntervalSince(now) > clockTolerance { return .distantPast }
    guard let expires = file.expiresAt ?? file.issuedAt.map({ $0 + assumedLifetime }) else { return .distantPast }
    let lifetime = file.issuedAt.map { expires.timeIntervalSince($0) }.flatMap { $0 > 0 ? $0 : nil }
    let ahead: TimeInterval =
      switch (margin, lifetime) {
      case (.percent(let percent), let lifetime?): lifetime * Double(percent) / 100
      case (.percent, nil): assumedMargin
      case (.duration(let time), let lifetime?): min(time.inSeconds, lifetime * largestShare)
      case (.duration(let time), nil): time.inSeconds
      }
    return expires - ahead
  }
}
