import CTaskHost

/// Why a run must end.
enum ExpirationCause: Equatable, Sendable {
  /// The host says so: a `TASKHOST_STOP_` value.
  case host(taskhost_stop_reason)
  /// The 30 s of an app refresh are over, which this module counts where the identifier has a longer kind.
  case refresh(Duration)

  /// The cause for people: a sentence.
  var sentence: String {
    switch self {
    case .refresh(let budget): "Its \(budget) as an app refresh task are over."
    case .host(let reason):
      switch Int(reason) {
      case TASKHOST_STOP_NONE: "The host has given the run up."
      case TASKHOST_STOP_BUDGET: "Its time is over."
      case TASKHOST_STOP_CANCELLED: "Its request was cancelled."
      case TASKHOST_STOP_CONDITIONS: "A condition it requires was lost."
      case TASKHOST_STOP_DRAINING: "The host is shutting down."
      case TASKHOST_STOP_REPLACED: "A newer request took its place."
      case TASKHOST_STOP_STALLED: "Its progress has not risen for too long."
      default: "The host asked it to stop (reason \(reason))."
      }
    }
  }

  /// Whether the run itself took too long; otherwise something around it changed.
  var isOvertime: Bool {
    switch self {
    case .refresh: true
    case .host(let reason): [TASKHOST_STOP_BUDGET, TASKHOST_STOP_STALLED].contains(Int(reason))
    }
  }
}
