public import TaskHostSDK

/// What happens to a run from outside, and when. Given when the run starts, so that it misses no moment.
public struct Interruption: Sendable, CustomStringConvertible {
  enum Kind: Sendable {
    case expire(StopReason)
    case kill
  }

  let kind: Kind
  let moment: Moment

  /// Expires the run with the given reason: calls its expiration handler, cancels its Swift task, begins its grace.
  public static func expire(_ reason: StopReason, at moment: Moment) -> Interruption { Interruption(kind: .expire(reason), moment: moment) }

  /// Ends the run as if its process died: see ``TestRun/kill()``.
  public static func kill(at moment: Moment) -> Interruption { Interruption(kind: .kill, moment: moment) }

  /// What and when.
  public var description: String {
    switch kind {
    case .expire(let reason): "expire (\(reason)) \(moment)"
    case .kill: "kill \(moment)"
    }
  }
}
