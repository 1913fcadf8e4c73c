import Dispatch
import Foundation
import Synchronization

/// The progress of a continued task, passed on to the host whenever it is set.
///
/// Foundation on Linux has no key-value observing, and a child changes its parent without calling an overridable method. So while there are
/// children, a timer checks their sum every 10 s, six times in the period after which a run without progress expires. `@unchecked
/// Sendable`: like Foundation's class; the additions are constant or behind a lock.
final class ForwardedProgress: Progress, @unchecked Sendable {
  private static let lookInterval = DispatchTimeInterval.seconds(10)
  /// The units of the whole once children contribute.
  private static let parts = 10_000.0

  // Not the task, which holds this object.
  private weak let run: TaskRun?
  private let look = Mutex<(any DispatchSourceTimer)?>(nil)

  init(_ run: TaskRun) {
    self.run = run
    super.init(parent: nil, userInfo: nil)
  }

  override var totalUnitCount: Int64 {
    get { super.totalUnitCount }
    set {
      super.totalUnitCount = newValue
      forward()
    }
  }

  override var completedUnitCount: Int64 {
    get { super.completedUnitCount }
    set {
      super.completedUnitCount = newValue
      forward()
    }
  }

  override func addChild(_ child: Progress, withPendingUnitCount inUnitCount: Int64) {
    super.addChild(child, withPendingUnitCount: inUnitCount)
    startLooking()
    forward()
  }

  override func resignCurrent() {
    super.resignCurrent()
    forward()
  }

  /// Called when the run is over or nobody can report progress any more.
  func stop() {
    look.withLock { timer in
      timer?.cancel()
      timer = nil
    }
  }

  func forward() {
    guard let run else { return stop() }
    let hasChildren = look.withLock { $0 != nil }
    let isOpen: Bool
    if hasChildren {
      isOpen = run.report(completed: UInt64((max(0, min(1, fractionCompleted)) * Self.parts).rounded(.down)), total: UInt64(Self.parts))
    } else {
      isOpen = run.report(completed: UInt64(max(0, completedUnitCount)), total: UInt64(max(0, totalUnitCount)))
    }
    if !isOpen { stop() }
  }

  private func startLooking() {
    look.withLock { timer in
      guard timer == nil else { return }
      let new = DispatchSource.makeTimerSource(queue: .global())
      new.schedule(deadline: .now() + Self.lookInterval, repeating: Self.lookInterval, leeway: .seconds(1))
      new.setEventHandler { [weak self] in self?.forward() }
      new.resume()
      timer = new
    }
  }
}
