import CTaskHostSystem
import Glibc
import HostThreads

/// A thread that repeatedly blocks until a descriptor is readable.
final class WatchThread: Sendable {
  private struct State: Sendable {
    /// An eventfd that ends the thread; -1 once it is closed.
    var stopper: Int32
    var thread: pthread_t?
  }

  private let state: Guarded<State>

  /// Starts it.
  ///
  /// - Parameters:
  ///   - descriptor: Owned by the caller, who keeps it open until `ended` is called.
  ///   - ready: Called on the thread when the descriptor is readable; returns a sentence if the thread must end.
  ///   - ended: Called on the thread as it ends, with that sentence, or nil after a stop.
  /// - Throws: If no eventfd or thread is available; then nothing is called.
  init(
    _ name: String, subject: String, descriptor: Int32, ready: @escaping @Sendable () -> String?,
    ended: @escaping @Sendable (String?) -> Void
  ) throws(WatchFailure) {
    let stopper = taskhost_system_event_create()
    guard stopper >= 0 else { throw WatchFailure(subject: subject, step: "eventfd", code: errno) }
    let state = Guarded(State(stopper: stopper, thread: nil))
    self.state = state
    do throws(HostThread.Failure) {
      try HostThread.start(name) {
        state.withLock { $0.thread = pthread_self() }
        let problem = Self.run(descriptor, stopper, ready)
        ended(problem)
        state.withLock {
          close($0.stopper)
          $0.stopper = -1
        }
        state.broadcast()
      }
    } catch {
      close(stopper)
      throw WatchFailure(subject: subject, step: "pthread_create", code: error.code)
    }
  }

  /// Ends the thread without waiting.
  func end() {
    state.withLock { if $0.stopper >= 0 { _ = taskhost_system_event_set($0.stopper) } }
  }

  /// Ends the thread and waits for it, unless called on it.
  func stop() {
    end()
    let isOwn = state.withLock { state in state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    guard !isOwn else { return }
    _ = state.wait { (state) -> Bool? in state.stopper < 0 ? true : nil }
  }

  private static func run(_ descriptor: Int32, _ stopper: Int32, _ ready: () -> String?) -> String? {
    while true {
      var waits = [pollfd(fd: stopper, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
      guard poll(&waits, nfds_t(waits.count), -1) >= 0 else {
        if errno == EINTR { continue }
        return "poll: \(String(cString: strerror(errno)))"
      }
      if waits[0].revents != 0 { return nil }
      if waits[1].revents & Int16(POLLIN) != 0 {
        if let problem = ready() { return problem }
      } else if waits[1].revents != 0 {
        return "its descriptor was closed by somebody else"
      }
    }
  }
}
