import CTaskHost

/// A call to the host that did not succeed: its status as in `taskhost.h`, and its sentence.
struct HostError: Error, Equatable {
  let status: Int
  let message: String

  /// Whether the run or launch that the call went through is over, so that another may be tried.
  var isOver: Bool { status == TASKHOST_ESTALE || status == TASKHOST_ELAUNCHED }
}
