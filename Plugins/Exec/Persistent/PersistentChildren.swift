internal import CExec
import Glibc
import Synchronization

/// The children of one command. Each serves one run at a time; there are as many as there were concurrent runs.
final class PersistentChildren: Sendable {
  private struct State {
    var idle: [PersistentChild] = []
    /// Descriptors of the processes that are being ended.
    var ending: [Int32] = []
    var isShutDown = false
  }

  private let settings: CommandSettings
  private let dataDirectory: String
  private let state = Mutex(State())

  init(_ settings: CommandSettings, in dataDirectory: String) {
    self.settings = settings
    self.dataDirectory = dataDirectory
  }

  /// A child without a run, which the caller gives back or ends.
  func take() throws(StartFailure) -> PersistentChild {
    // Orders are sent under the lock, so that a keeper gets them in the order of what they tell.
    let child = state.withLock { state -> PersistentChild? in
      while let child = state.idle.popLast() {
        let hasEnded = child.process.end() != nil
        child.send(hasEnded ? .end : .busy)
        if !hasEnded { return child }
      }
      return nil
    }
    if let child { return child }
    return try PersistentChild.start(settings, in: dataDirectory) { [self] child in
      // False: a run took it in the meantime.
      state.withLock { state in
        let place = state.idle.firstIndex { $0 === child }
        if let place { state.idle.remove(at: place) }
        return place != nil
      }
    }
  }

  /// Keeps the child for another run.
  func give(_ child: PersistentChild) {
    state.withLock { state in
      if !state.isShutDown { state.idle.append(child) }
      child.send(state.isShutDown ? .end : .idle)
    }
  }

  /// Ends a child that a run has.
  func end(_ child: PersistentChild) { child.send(.end) }

  /// Ends the idle children, and from now on each child after its run.
  func beginShutDown() {
    state.withLock { state in
      state.isShutDown = true
      for child in state.idle {
        // The keeper closes its own when the child has ended.
        state.ending.append(fcntl(child.process.descriptor, F_DUPFD_CLOEXEC, 3))
        child.send(.end)
      }
      state.idle = []
    }
  }

  /// Waits until they have ended, less than the 5 s that the host gives.
  func finishShutDown() {
    let ending = state.withLock { state in
      defer { state.ending = [] }
      return state.ending
    }
    let deadline = Clock.now + 4_500
    for descriptor in ending where descriptor >= 0 {
      var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&wait, 1, Int32(clamping: max(0, deadline - Clock.now)))
      close(descriptor)
    }
  }
}
