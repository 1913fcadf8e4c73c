import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

// The agent's thread that sends: what is submitted here, and what has ended if that is much. Meanwhile the other one looks for more.

extension FleetAgent {
  /// What is to be sent next: ends, or submissions.
  struct Outgoing {
    var ended: [Ended] = []
    var arrivals: [Arrival] = []
  }

  /// Waits for something to send, and takes it; nil once the agent is over.
  func takeOutgoing() -> Outgoing? {
    endSending(as: .nothing)
    return state.wait { state in
      if state.areManySettled, !state.isOver {
        let outgoing = Outgoing(ended: state.takeEnded())
        (state.sending, state.recording) = (.ends, outgoing.ended)
        return .done(outgoing)
      }
      if !state.arrivals.isEmpty, !state.isOffered {
        defer { (state.arrivals, state.sending) = ([], .submissions) }
        return .done(Outgoing(arrivals: state.arrivals))
      }
      return state.isOver ? .done(nil) : .again()
    }
  }

  /// The ends could not be recorded, as far as is known: whichever thread comes first tries it again.
  func putBack(_ ended: [Ended], _ failure: FleetError) {
    guard !ended.isEmpty else { return }
    let refused = state.withLock { state in
      state.unrecorded += ended
      return state.refuse(ended, failure)
    }
    for refuse in refused { refuse() }
    endSending(as: .pause)
  }

  /// What has been recorded may let others begin, and more may have ended meanwhile: the other thread looks.
  private func endSending(as sending: Sending) {
    let wereEnds = state.withLock { state in
      defer { (state.sending, state.recording) = (sending, []) }
      return state.sending == .ends
    }
    guard wereEnds else { return }
    state.broadcast()
    wakeForRoom()
  }

  /// Says how many requests were added that are due soon: this host looks at them, or tells others of them.
  func note(added count: Int) {
    guard count > 0 else { return }
    state.withLock { $0.added += count }
    wakeForWork()
  }

  /// Waits, but not longer than the agent lasts.
  func rest(for pause: Duration) {
    endSending(as: .pause)
    _ = state.wait(until: SystemClock.now + pause) { state in state.isOver ? true : nil }
  }
}
