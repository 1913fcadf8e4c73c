/// An HTTP answer, as far as this plugin looks at it.
struct ServerAnswer: Sendable {
  /// Largest body that is read: 64 KiB.
  static let largestBody = 65_536

  let status: Int
  var retryAfter: String?
  var date: String?
  var location: String?
  /// nil: larger than ``largestBody``.
  let body: [UInt8]?
}
