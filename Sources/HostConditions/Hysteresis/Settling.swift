import TaskModel

/// The part of hysteresis that is time: how long a machine must lean one way before a condition follows.
struct Settling: Sendable, Hashable {
  /// How long, continuously, it must lean to `holds` before the condition holds.
  let holdsAfter: Duration
  /// How long, continuously, it must lean to `lost` before the condition is lost.
  let lostAfter: Duration
  /// What the first reading does.
  let first: First

  /// What the first reading does, of which nobody knows for how long it has been so.
  enum First: Sendable, Hashable {
    /// It decides at once: what is, is taken to have been.
    case decides
    /// The condition starts as not held and has to be earned.
    case startsLost
  }

  private(set) var holds = false
  private(set) var isKnown = false
  /// When the condition changes if the machine goes on leaning as it does; nil if it leans to what is.
  private(set) var settlesAt: MonotonicTime?
  private var isFirst = true

  init(holdsAfter: Duration, lostAfter: Duration, first: First = .decides) {
    self.holdsAfter = holdsAfter
    self.lostAfter = lostAfter
    self.first = first
  }

  /// Takes a reading made at `now`, which never goes back.
  ///
  /// A reading in between stops what was settling: only what leans the whole time gets through. What is unknown holds at once.
  mutating func observe(_ leaning: Leaning, at now: MonotonicTime) {
    isKnown = leaning != .unknown
    defer { isFirst = false }
    switch leaning {
    case .unknown:
      holds = true
      settlesAt = nil
    case .neither:
      if isFirst { holds = first == .decides }
      settlesAt = nil
    case .holds, .lost:
      let wanted = leaning == .holds
      if isFirst, first == .decides { holds = wanted }
      guard wanted != holds else {
        settlesAt = nil
        return
      }
      let due = settlesAt ?? now + (wanted ? holdsAfter : lostAfter)
      settlesAt = due
      guard now >= due else { return }
      holds = wanted
      settlesAt = nil
    }
  }
}
