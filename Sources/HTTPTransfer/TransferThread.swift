import Glibc

/// A detached thread with every asynchronous signal blocked.
enum TransferThread {
  /// Calls `body` on a new thread. Throws if none can be created.
  static func start(_ body: @escaping @Sendable () -> Void) throws(TransferFailure) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    // The thread inherits the mask: only threads that expect signals should get them.
    var blocked = sigset_t()
    var previous = sigset_t()
    sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&blocked, fault) }
    pthread_sigmask(SIG_SETMASK, &blocked, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
    let start = Unmanaged.passRetained(Body(run: body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, &attributes,
      { start in
        if let start { Unmanaged<Body>.fromOpaque(start).takeRetainedValue().run() }
        return nil
      }, start.toOpaque())
    guard code != 0 else { return }
    start.release()
    throw .broken("no thread: \(String(cString: strerror(code)))")
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
