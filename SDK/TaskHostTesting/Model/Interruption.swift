public import TaskHostSDK

/// What happens to a run from outside, and when. Given when the run is started, so that no moment is missed.
public struct Interruption: Sendable, CustomStringConvertible {
  enum Kind: Sendable {
    case expire(StopReason)
    case kill
  }

  let kind: Kind
  let moment: Moment

  /// The run expires with that reason: its expiration handler is called, its Swift task cancelled, its grace begins.
  public static func expire(_ reason: StopReason, at moment: Moment) -> Interruption { Interruption(kind: .expire(reason), moment: moment) }

  /// The run ends as if its process had died: see ``TestRun/kill()``.
  public static func kill(at moment: Moment) -> Interruption { Interruption(kind: .kill, moment: moment) }

  /// What and when.
  public var description: String {
    switch kind {
    case .expire(let reason): "expire (\(reason)) \(moment)"
    case .kill: "kill \(moment)"
    }
  }
}
