import CTaskHost

extension BGTaskScheduler.Error {
  /// What an author is told when a call to the host failed.
  init(_ error: any Swift.Error) {
    switch error {
    case let error as BGTaskScheduler.Error: self = error
    case let error as HostError:
      let code: Code =
        switch error.status {
        case TASKHOST_ENOTPERMITTED, TASKHOST_EINVAL: .notPermitted
        case TASKHOST_ELIMIT: .tooManyPendingTaskRequests
        default: .unavailable
        }
      self.init(code, error.message.isEmpty ? "the host answered \(error.status) and gave no reason" : error.message)
    default: self.init(.notPermitted, String(describing: error))
    }
  }
}
