import TaskModel

/// When the next pending request of a lane is due, as far as the scheduler knows.
enum NextDue {
  /// The store must be asked.
  case unknown
  /// No request is pending, or all wait for an event.
  case never
  /// The next request is due at this time or later, never earlier.
  case at(WallTime)

  /// The earliest possible time; nil if none is pending.
  var earliest: WallTime? {
    switch self {
    case .unknown: WallTime(unixMilliseconds: 0)
    case .never: nil
    case .at(let time): time
    }
  }

  func isDue(by now: WallTime) -> Bool {
    switch self {
    case .unknown: true
    case .never: false
    case .at(let time): time <= now
    }
  }

  /// Accounts for a request that is due at `time`.
  mutating func note(_ time: WallTime) {
    switch self {
    case .unknown: break
    case .never: self = .at(time)
    case .at(let known): self = .at(min(known, time))
    }
  }
}

/// What the scheduler remembers about the pending requests that share their gates. The store can rebuild all of it.
final class LaneState {
  let gates: RunConstraints
  var nextDue = NextDue.unknown { didSet { handler?.agenda.changed(self) } }
  /// nil for a lane that no request was ever in.
  private(set) unowned var handler: HandlerState?
  // The agenda's notes.
  /// The time of its valid entry among the waiting lanes; nil if it has none.
  var noted: WallTime?
  var isPresent = false

  private let hasFlex: Bool

  init(gates: RunConstraints, of handler: HandlerState? = nil) {
    self.gates = gates
    self.handler = handler
    // With a negative flex from a damaged store, the lane would wake before it is due, again and again.
    hasFlex = gates.flex > .zero
  }

  /// When the lane needs its own wake-up; nil if no timed request is pending. Until its flex is over, a request waits to share another's wake-up.
  var wakeTime: WallTime? { hasFlex ? nextDue.earliest.map { $0 + gates.flex } : nextDue.earliest }

  func becamePending(due time: WallTime) {
    if time < .distantFuture { nextDue.note(time) }
  }
}
