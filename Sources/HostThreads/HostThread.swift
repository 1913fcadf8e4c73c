import CTaskHostSystem
import Glibc

/// Makes the host's threads: named, with 8 MiB of stack and a guard page, asynchronous signals blocked.
public enum HostThread {
  /// A thread that could not be made.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// `errno` of pthread_create.
    public let code: Int32
    /// A failure with that `errno`.
    public init(code: Int32) { self.code = code }
    /// What was seen and what to do.
    public var description: String {
      "a thread could not be made: \(String(cString: strerror(code))); raise the limit of threads or memory"
    }
  }

  /// Starts a detached thread that runs `body` and ends.
  ///
  /// - Parameters:
  ///   - name: The kernel keeps 15 bytes of it.
  ///   - precise: Whether its timed waits must end on time (timer slack 1 ns instead of 50 µs).
  public static func start(_ name: String, precise: Bool = false, _ body: @escaping @Sendable () -> Void) throws(Failure) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, 8 << 20)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let start = Unmanaged.passRetained(Start(name: name, precise: precise, body: body))
    var thread = pthread_t()
    // Asynchronous signals are for the main thread: the new thread inherits the mask, so there is no moment without it.
    let previous = blockAsynchronousSignals()
    let code = pthread_create(&thread, &attributes, { Start.run($0) }, start.toOpaque())
    restore(previous)
    guard code == 0 else {
      start.release()
      throw Failure(code: code)
    }
  }

  /// The 15 bytes by which a thread of `identifier` is known: the beginning of its last label.
  public static func name(for identifier: String) -> String {
    String(identifier.split(separator: ".").last ?? Substring(identifier))
  }

  private static func blockAsynchronousSignals() -> sigset_t {
    var blocked = sigset_t()
    var previous = sigset_t()
    sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&blocked, fault) }
    // By which a thread that hangs is asked for its stack.
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
      if start.precise { _ = taskhost_system_set_timer_slack(1) }
      start.body()
      return nil
    }
  }
}
