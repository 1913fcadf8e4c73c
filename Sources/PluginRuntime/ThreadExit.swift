import CCrashCell
import TaskModel

/// Records in the crash memory which run the calling thread serves, and detects a handler that ends its thread instead of returning.
enum ThreadExit {
  final class Watch {
    private let run: LiveRun
    private let onThreadExit: (LiveRun) -> Void

    fileprivate init(_ run: LiveRun, _ onThreadExit: @escaping (LiveRun) -> Void) {
      self.run = run
      self.onThreadExit = onThreadExit
    }

    fileprivate func act() { onThreadExit(run) }
  }

  /// The calling thread starts to serve `run`.
  ///
  /// - Parameter onThreadExit: Called on this thread, as its last action, if it ends before ``end(_:)``.
  static func begin(_ run: LiveRun, onThreadExit: @escaping (LiveRun) -> Void) -> Unmanaged<Watch> {
    let watch = Unmanaged.passRetained(Watch(run, onThreadExit))
    taskhost_crash_prepare_thread()
    taskhost_crash_on_thread_exit({ $0.map { ThreadExit.act($0) } }, watch.toOpaque())
    let id = run.order.run
    taskhost_crash_begin(UInt64(bitPattern: id.sequence))
    taskhost_crash_serve(UInt64(bitPattern: id.sequence), id.origin)
    return watch
  }

  /// The handler has returned.
  static func end(_ watch: Unmanaged<Watch>) {
    taskhost_crash_serve(0, 0)
    taskhost_crash_on_thread_exit(nil, nil)
    watch.release()
  }

  /// Calls a function of the run on another thread than its handler's.
  static func whileServing(_ run: RunID, _ body: () -> Void) {
    taskhost_crash_prepare_thread()
    taskhost_crash_serve(UInt64(bitPattern: run.sequence), run.origin)
    body()
    taskhost_crash_serve(0, 0)
  }

  private static func act(_ opaque: UnsafeMutableRawPointer) {
    let watch = Unmanaged<Watch>.fromOpaque(opaque).takeRetainedValue()
    taskhost_crash_serve(0, 0)
    watch.act()
  }
}
