import TaskModel

/// The delays of hysteresis: how long a reading must persist before the condition follows.
struct Settling: Sendable, Hashable {
  /// How long, continuously, it must lean to `holds` before the condition holds.
  let holdsAfter: Duration
  /// How long, continuously, it must lean to `lost` before the condition is lost.
  let lostAfter: Duration
  let first: First

  /// The effect of the first reading, whose duration is unknown.
  enum First: Sendable, Hashable {
    /// The first reading counts immediately.
    case decides
    /// The condition starts as not held.
    case startsLost
  }

  private(set) var holds = false
  private(set) var isKnown = false
  /// When the condition changes if the readings stay the same; nil if they agree with it.
  private(set) var settlesAt: MonotonicTime?
  private var isFirst = true

  init(holdsAfter: Duration, lostAfter: Duration, first: First = .decides) {
    self.holdsAfter = holdsAfter
    self.lostAfter = lostAfter
    self.first = first
  }

  /// - Parameter now: The time of the reading, which never decreases.
  ///
  /// A `neither` reading cancels a pending change: a change needs consistent readings. An unknown reading makes the condition hold
  /// immediately.
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
