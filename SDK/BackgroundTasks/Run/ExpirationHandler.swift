import Dispatch

/// An author's expiration handler and where it is called.
///
/// `@unchecked Sendable`: as on iOS, the closure need not be Sendable; it is called once.
struct ExpirationHandler: @unchecked Sendable {
  let body: () -> Void
  /// Whether it was set on the main queue, and so may use what belongs to the main actor.
  let isOnMainQueue: Bool

  init(_ body: @escaping () -> Void) {
    self.body = body
    isOnMainQueue = MainQueue.isCurrent
  }

  func call(_ done: @escaping @Sendable () -> Void) {
    // A queue of its own: the launch handler may block its queue, and the author must not block the host's thread.
    let queue = isOnMainQueue ? DispatchQueue.main : DispatchQueue(label: "org.taskhost.background-tasks.expiration")
    queue.async {
      body()
      done()
    }
  }
}
