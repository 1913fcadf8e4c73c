/// Keeps a batch to its rate. libcurl paces one body; small ones end before it begins to, so that others must begin later.
struct Pace {
  private let bytesPerSecond: Int64?
  private let begin = ContinuousClock.now
  private var moved: Int64 = 0
  /// How much may be ahead of the rate.
  private static let ahead: Duration = .milliseconds(500)
  /// How long to wait before it is asked again, in milliseconds.
  static let interval = 50

  /// - Parameter bytesPerSecond: nil lets everything begin at once.
  init(_ bytesPerSecond: Int64?) { self.bytesPerSecond = bytesPerSecond }

  var isLimited: Bool { bytesPerSecond != nil }

  /// Notes what a transfer that has ended has moved.
  mutating func add(_ bytes: Int64) { moved += max(0, bytes) }

  /// Whether another transfer may begin.
  ///
  /// - Parameter underway: What those that proceed have moved.
  func mayBegin(underway: Int64) -> Bool {
    guard let bytesPerSecond else { return true }
    let time = (.now - begin + Self.ahead) / .milliseconds(1)
    return Double(moved + underway) <= time / 1000 * Double(bytesPerSecond)
  }
}
