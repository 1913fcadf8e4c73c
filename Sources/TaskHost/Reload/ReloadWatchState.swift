import TaskModel

/// When changed files are looked at, and what is done about them.
///
/// A copy takes time, and so does an editor. So a change counts when two looks have seen the same, and no process has a changed plugin open; at
/// the latest when ``patience`` is over.
///
///     rest ──touched──▶ looking ──as in force──▶ rest, withdrawn
///                        │  ▲
///                        │  └── changing, or open: look again
///                        └───── at rest ──▶ rest, offered or reloaded; the same is not acted on again
struct ReloadWatchState: Sendable {
  enum Action: Sendable, Equatable {
    /// What is there is in force.
    case withdraw
    /// To say that these paths have changed.
    case offer([String])
    /// To put them in force.
    case reload
  }

  /// Between two looks.
  let interval: Duration
  /// From the first sign of a change.
  let patience: Duration
  private(set) var mode: HostConfiguration.ReloadMode
  /// What is in force.
  private(set) var inForce: ReloadSources
  /// When to look; nil while nothing has changed.
  private(set) var nextLook: MonotonicTime?
  private var since: MonotonicTime?
  private var last: ReloadSources?
  /// What was acted on.
  private var acted: ReloadSources?

  init(_ inForce: ReloadSources, _ mode: HostConfiguration.ReloadMode, interval: Duration, patience: Duration) {
    (self.inForce, self.mode, self.interval, self.patience) = (inForce, mode, interval, patience)
  }

  /// Something may have changed.
  mutating func touched(at now: MonotonicTime) {
    since = since ?? now
    nextLook = nextLook ?? now + interval
  }

  /// A look begins: what is touched from now on may not be seen by it.
  mutating func beginLook() { nextLook = nil }

  /// - Parameter isOpen: Whether a process has a changed plugin open.
  mutating func looked(_ sources: ReloadSources, isOpen: Bool, at now: MonotonicTime) -> Action? {
    guard sources != inForce else {
      rest()
      acted = nil
      return .withdraw
    }
    guard sources != acted else {
      rest()
      return nil
    }
    let isOver = since.map { now - $0 >= patience } ?? true
    guard isOver || sources == last && !isOpen else {
      last = sources
      nextLook = nextLook ?? now + interval
      return nil
    }
    rest()
    acted = sources
    return mode == .auto ? .reload : .offer(inForce.changes(to: sources))
  }

  /// A touch during the look stays.
  private mutating func rest() { (last, since) = (nil, nextLook == nil ? nil : since) }

  /// A reload has put something in force, by whomever.
  mutating func reloaded(_ sources: ReloadSources, _ mode: HostConfiguration.ReloadMode, at now: MonotonicTime) {
    (inForce, self.mode, acted) = (sources, mode, nil)
    // What has changed while it was read.
    touched(at: now)
  }
}
