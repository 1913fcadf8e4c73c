import CTaskHost

/// Why a call of a plugin is not answered with OK.
struct CallFailure: Error, Equatable {
  let status: taskhost_status
  let message: String

  init(_ status: Int, _ message: String) {
    self.status = taskhost_status(status)
    self.message = message
  }

  static let stale = CallFailure(TASKHOST_ESTALE, "the run is over, or never was")
  static let expired = CallFailure(TASKHOST_EEXPIRED, "the run has expired")
  static let launchIsOver = CallFailure(TASKHOST_ELAUNCHED, "launch is over: registration is closed")
}
