import Synchronization

/// One sleep on a test host's clock. The host's wake-up or cancellation ends it, whichever comes first.
final class VirtualSleep: Sendable {
  private enum State {
    case new
    case cancelled
    /// The host holds a reference until it calls or the wake-up is withdrawn.
    case asleep(CheckedContinuation<Void, Never>)
    case over
  }

  private let clock: VirtualTime
  private let state = Mutex(State.new)

  init(_ clock: VirtualTime) {
    self.clock = clock
  }

  /// Falls asleep; `continuation` is resumed when the sleep ends. Called once.
  func begin(_ continuation: CheckedContinuation<Void, Never>, for duration: Duration) {
    let isCancelled = state.withLock { state in
      if case .cancelled = state { return true }
      state = .asleep(continuation)
      return false
    }
    guard !isCancelled else { return continuation.resume() }
    let context = Unmanaged.passRetained(self)
    if !clock.wake(after: duration, Self.wakeUp, context.toOpaque()) {
      context.release()
      end()
    } else if state.withLock({ if case .over = $0 { true } else { false } }) {
      // Cancellation came before there was a wake-up to withdraw.
      withdraw()
    }
  }

  /// Ends the sleep, even one that is about to begin. Any thread.
  func cancel() {
    let began = state.withLock { state in
      if case .new = state {
        state = .cancelled
        return false
      }
      return true
    }
    guard began else { return }
    withdraw()
    end()
  }

  /// Releases the host's reference if the host will not call.
  private func withdraw() {
    let context = Unmanaged.passUnretained(self)
    if clock.withdraw(context.toOpaque()) { context.release() }
  }

  private func end() {
    let continuation: CheckedContinuation<Void, Never>? = state.withLock { state in
      guard case .asleep(let continuation) = state else { return nil }
      state = .over
      return continuation
    }
    continuation?.resume()
  }

  private static let wakeUp: VirtualTimeFunctions.WakeUp = { context in
    guard let context else { return }
    Unmanaged<VirtualSleep>.fromOpaque(context).takeRetainedValue().end()
  }
}
