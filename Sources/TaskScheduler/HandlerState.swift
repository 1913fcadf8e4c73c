import TaskModel

/// What the scheduler keeps about one handler. All of it can be rebuilt from the store and the launcher.
final class HandlerState {
  /// When the next pending request is due, as far as it is known.
  enum NextDue {
    /// The store must be asked.
    case unknown
    /// None is pending.
    case never
    /// Then; or earlier, never later.
    case at(WallTime)
  }

  var contract: HandlerContract
  var running = 0
  /// Why it takes no runs now.
  var suspension: String?
  var nextDue = NextDue.unknown
  /// How many live requests it has; nil: the store must be asked.
  var liveRequests: Int?

  init(contract: HandlerContract) { self.contract = contract }

  /// How many more runs it allows.
  var freeSlots: Int { suspension == nil ? max(0, contract.maxConcurrentRuns - running) : 0 }

  /// A request became pending, due at `time`.
  func becamePending(due time: WallTime) {
    switch nextDue {
    case .unknown: break
    case .never: nextDue = .at(time)
    case .at(let known): if time < known { nextDue = .at(time) }
    }
  }
}
