import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

// Changes to what the host holds of the fleet: each is answered once the database has it, so that it outlives the host.

extension FleetAgent {
  /// A change that the database is to have while the request stays here.
  struct Keeping: Sendable {
    let id: RequestID
    /// The owner that has made it, and its claim.
    let incarnation: String
    let epoch: Int64
    /// The request as its next owner is to find it; nil if the database has it.
    let record: RequestRecord?
    let keys: [HeldKey]
    let completion: @Sendable (RequestRefusal?) -> Void
  }

  /// Changes a request that the host holds. `completion` is called on any thread.
  func change<Value: Sendable>(
    _ id: RequestID, _ change: SchedulerChange<Value>, completion: @escaping @Sendable (Result<Value, RequestRefusal>) -> Void
  ) {
    let held = state.withLock { $0.holdings[id] }
    scheduler.changeHeld(id, change) { [self] result in
      let done: HeldChange<Value>
      do throws(RequestRefusal) { done = try result.get() } catch { return completion(.failure(error)) }
      let answer: @Sendable (RequestRefusal?) -> Void = { completion($0.map { .failure($0) } ?? .success(done.value)) }
      guard let holding = held, lease.incarnation == holding.incarnation else { return answer(Self.unkept("the host's lease has ended")) }
      let keeping = Keeping(
        id: id, incarnation: holding.incarnation, epoch: holding.epoch, record: done.running, keys: done.keys, completion: answer)
      guard done.running == nil else { return keep(keeping) }
      let whenDone: @Sendable (RequestRefusal?) -> Void = { [self] refusal in
        if refusal == nil, !done.keys.isEmpty { keep(keeping) } else { answer(refusal) }
      }
      // It may be recorded already, and the host may even have claimed it again.
      let isHere = state.withLock { $0.holdings[id]?.epoch == holding.epoch }
      if isHere { whenRecorded([id], completion: whenDone) } else { whenDone(nil) }
    }
  }

  private func keep(_ keeping: Keeping) {
    do throws(RequestRefusal) {
      try queue(keeping, in: \.keepings, submits: false)
      wakeForWork()
    } catch { keeping.completion(Self.unkept("\(error)")) }
  }

  /// Calls `completion` once the database has these, which the host has let go of, or with why it may not have them.
  func whenRecorded(_ ids: Set<RequestID>, completion: @escaping @Sendable (RequestRefusal?) -> Void) {
    let mustWait = state.withLock { state in
      let left = ids.filter { state.holdings[$0] != nil }
      guard !left.isEmpty else { return false }
      state.recordings.add(left, completion: completion)
      return true
    }
    if !mustWait { completion(nil) }
  }

  static func unkept(_ reason: String) -> RequestRefusal {
    RequestRefusal(.unavailable, "it is changed at this host; whether that outlives the host is not known: \(reason)")
  }
}

extension FleetExchanges {
  /// Lets the database have changes of what goes on here.
  ///
  /// - Parameter keepings: Loses what is answered.
  func keep(_ keepings: inout [FleetAgent.Keeping], _ session: FleetSession, _ incarnation: String) throws(FleetError) {
    while let keeping = keepings.first {
      var refusal: RequestRefusal?
      if keeping.incarnation == incarnation {
        let keys = FleetKeyChanges(held: keeping.keys)
        do throws(FleetError) {
          try session.keep(incarnation, keeping.id, epoch: keeping.epoch, as: keeping.record, keys: keys)
        } catch {
          guard Self.refusal(of: error) != nil else { throw error }
          refusal = FleetAgent.unkept("\(error)")
        }
      } else {
        refusal = FleetAgent.unkept("the host's lease has ended")
      }
      keeping.completion(refusal)
      keepings.removeFirst()
    }
  }
}
