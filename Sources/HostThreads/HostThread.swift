import CTaskHostSystem
import Glibc

/// Creates the host's threads: named, with a stack of 8 MiB and a guard page, and with asynchronous signals blocked.
public enum HostThread {
  /// Why a thread could not be created.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// The error number that pthread_create returned.
    public let code: Int32
    /// Creates a failure with that error number.
    public init(code: Int32) { self.code = code }
    /// What happened and what to do.
    public var description: String {
      "a thread could not be created: \(String(cString: strerror(code))); raise the limit of threads or memory"
    }
  }

  /// Starts a detached thread that runs `body`.
  ///
  /// - Parameters:
  ///   - name: The thread's name. The kernel keeps the first 15 bytes.
  ///   - precise: Whether the thread's timed waits must end on time (timer slack of 1 ns instead of 50 µs), also beside busy threads (time
  ///     slice of 100 µs).
  public static func start(_ name: String, precise: Bool = false, _ body: @escaping @Sendable () -> Void) throws(Failure) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, 8 << 20)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let start = Unmanaged.passRetained(Start(name: name, precise: precise, body: body))
    var thread = pthread_t()
    // Asynchronous signals are for the main thread. The new thread inherits the mask, so the signals are never unblocked in it.
    let previous = blockAsynchronousSignals()
    let code = pthread_create(&thread, &attributes, { Start.run($0) }, start.toOpaque())
    restore(previous)
    guard code == 0 else {
      start.release()
      throw Failure(code: code)
    }
  }

  /// The name for a thread of `identifier`: its last label, of which the kernel keeps 15 bytes.
  public static func name(for identifier: String) -> String {
    String(identifier.split(separator: ".").last ?? Substring(identifier))
  }

  private static func blockAsynchronousSignals() -> sigset_t {
    var blocked = sigset_t()
    var previous = sigset_t()
    sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&blocked, fault) }
    // This signal asks a hanging thread for its stack.
    sigdelset(&blocked, taskhost_system_stack_signal())
    pthread_sigmask(SIG_SETMASK, &blocked, &previous)
    return previous
  }

  private static func restore(_ mask: sigset_t) {
    var mask = mask
    pthread_sigmask(SIG_SETMASK, &mask, nil)
  }

  private final class Start: Sendable {
    let name: String
    let precise: Bool
    let body: @Sendable () -> Void

    init(name: String, precise: Bool, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.precise = precise
      self.body = body
    }

    static func run(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      guard let opaque else { return nil }
      let start = Unmanaged<Start>.fromOpaque(opaque).takeRetainedValue()
      _ = taskhost_system_set_thread_name(start.name)
      if start.precise {
        _ = taskhost_system_set_timer_slack(1)
        _ = taskhost_system_set_time_slice(100_000)
      }
      start.body()
      return nil
    }
  }
}
