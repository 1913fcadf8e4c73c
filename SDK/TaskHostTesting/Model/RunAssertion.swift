/// An execution assertion that a run took. Times are since the run began, on the virtual clock.
public struct RunAssertion: Sendable, Hashable, CustomStringConvertible {
  /// How an assertion ended.
  public enum Ending: Sendable, Hashable {
    /// The run ended it.
    case given
    /// Its time was over.
    case expired
    /// The run ended without ending it.
    case withRun
  }

  /// What the run called it.
  public let name: String
  /// Why it was taken; `nil` if the run did not say.
  public let reason: String?
  /// How long it could be held.
  public let length: Duration
  /// When it was taken.
  public let began: Duration
  /// When it ended; `nil` while the run holds it. The report tells that it has expired once the run has ended.
  public private(set) var ended: Duration?
  /// How it ended; `nil` as for ``ended``.
  public private(set) var ending: Ending?

  init(name: String, reason: String?, length: Duration, began: Duration) {
    self.name = name
    self.reason = reason
    self.length = length
    self.began = began
  }

  /// It ended then at the latest: it may have expired before.
  mutating func end(at time: Duration, _ ending: Ending) {
    let hasExpired = began + length <= time
    ended = hasExpired ? began + length : time
    self.ending = hasExpired ? .expired : ending
  }

  /// For failed tests to print.
  public var description: String {
    let end =
      switch ending {
      case nil: "held"
      case .given: "given back"
      case .expired: "expired"
      case .withRun: "ended with the run"
      }
    return "\(name)\(reason.map { " (\($0))" } ?? "") at \(began) for at most \(length): \(end)\(ended.map { " at \($0)" } ?? "")"
  }
}
