import FoundationEssentials

/// When an access token is due to be refreshed.
enum RefreshPolicy {
  /// The assumed lifetime if neither the file nor the server gives one: an hour, as most servers use.
  static let assumedLifetime: TimeInterval = 3600
  /// The margin if it is a share of the lifetime, but the file does not say when that began: 5 minutes.
  static let assumedMargin: TimeInterval = 300
  /// A fixed margin is at most this share of a known lifetime; a token just fetched must not be due again.
  static let largestShare = 0.9
  /// A token issued further in the future means that the clock was set back, and its times mean nothing: 5 minutes.
  static let clockTolerance: TimeInterval = 300

  /// When the token becomes due; in the past if it is due. `distantPast` if there is no token, or its times are unknown.
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
