#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Makes threads as the host's are: detached, 8 MiB of stack, asynchronous signals blocked, named.
enum PluginThread {
  /// Starts a thread that runs `body` and ends.
  ///
  /// - Parameter name: The kernel keeps 15 bytes of it.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(TestHostError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, 8 << 20)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    #if canImport(Glibc)
      var thread = pthread_t()
    #else
      var thread: pthread_t?
    #endif
    let previous = blockAsynchronousSignals()
    let code = pthread_create(&thread, &attributes, { Start.run($0) }, start.toOpaque())
    restore(previous)
    guard code == 0 else {
      start.release()
      throw TestHostError.system("a thread could not be made: \(String(cString: strerror(code))); raise the limit of threads or memory")
    }
  }

  private static func blockAsynchronousSignals() -> sigset_t {
    var blocked = sigset_t()
    var previous = sigset_t()
    sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&blocked, fault) }
    pthread_sigmask(SIG_SETMASK, &blocked, &previous)
    return previous
  }

  private static func restore(_ mask: sigset_t) {
    var mask = mask
    pthread_sigmask(SIG_SETMASK, &mask, nil)
  }

  private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }

    static func run(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      guard let opaque else { return nil }
      let start = Unmanaged<Start>.fromOpaque(opaque).takeRetainedValue()
      setName(start.name)
      start.body()
      return nil
    }

    /// Names the calling thread, as far as the system lets it.
    private static func setName(_ name: String) {
      let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { return }
      _ = Array(name.utf8.prefix(15)).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      close(file)
    }
  }
}
