import TaskModel

/// When the next pending request of a lane is due, as far as it is known.
enum NextDue {
  /// The store must be asked.
  case unknown
  /// None is pending, or all wait for an event.
  case never
  /// Then; or earlier, never later.
  case at(WallTime)

  /// Not before then; nil: none is pending.
  var earliest: WallTime? {
    switch self {
    case .unknown: WallTime(unixMilliseconds: 0)
    case .never: nil
    case .at(let time): time
    }
  }

  /// Whether something may be due by `now`.
  func isDue(by now: WallTime) -> Bool {
    switch self {
    case .unknown: true
    case .never: false
    case .at(let time): time <= now
    }
  }

  /// Something is pending, due at `time`.
  mutating func note(_ time: WallTime) {
    switch self {
    case .unknown: break
    case .never: self = .at(time)
    case .at(let known): self = .at(min(known, time))
    }
  }
}

/// What the scheduler keeps about the pending requests that share their gates. All of it can be rebuilt from the store.
final class LaneState {
  let gates: RunConstraints
  var nextDue = NextDue.unknown

  private let hasFlex: Bool

  init(gates: RunConstraints) {
    self.gates = gates
    // A damaged store may say less than nothing: what wakes before it is due would be looked at without end.
    hasFlex = gates.flex > .zero
  }

  /// When a wake-up is due for it: a request that may begin later shares another's wake-up until then. Nil: none is pending.
  var wakeTime: WallTime? { hasFlex ? nextDue.earliest.map { $0 + gates.flex } : nextDue.earliest }

  /// A request became pending, due at `time`.
  func becamePending(due time: WallTime) {
    if time < .distantFuture { nextDue.note(time) }
  }
}
