import Dispatch

/// An author's expiration handler and where it is called.
///
/// `@unchecked Sendable`: as on iOS the closure need not be; it is called once.
struct ExpirationHandler: @unchecked Sendable {
  let body: () -> Void
  /// Whether it was set on the main queue: then it may touch what belongs to the main actor.
  let isOnMainQueue: Bool

  init(_ body: @escaping () -> Void) {
    self.body = body
    isOnMainQueue = MainQueue.isCurrent
  }

  func call(_ done: @escaping @Sendable () -> Void) {
    // A queue of its own: the launch handler may block the one it is on, and the host's thread is not the author's to block.
    let queue = isOnMainQueue ? DispatchQueue.main : DispatchQueue(label: "org.taskhost.background-tasks.expiration")
    queue.async {
      body()
      done()
    }
  }
}
