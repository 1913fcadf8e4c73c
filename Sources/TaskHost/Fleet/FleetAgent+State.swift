import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

extension FleetAgent {
  /// A request that the host owns.
  struct Holding {
    let lane: Int64
    let incarnation: String
    /// Greater than that of every earlier holding of the request.
    let epoch: Int64
    let since: MonotonicTime
    /// See ``ClaimedRequest/bytes``.
    let bytes: Int
    /// Whether the scheduler has seen it: one that this host cannot read stays here until the lease ends.
    var isHandedOver = false
  }

  /// What ended of the requests that the host owns still.
  typealias Ended = (request: SurrenderedRequest, holding: Holding)

  /// What the thread of ``FleetOutbox`` does.
  enum Sending {
    case nothing
    case submissions
    case ends
    /// It has failed, and pauses.
    case pause
  }

  /// What the agent's threads share.
  struct State {
    var holdings: [RequestID: Holding] = [:]
    /// What has ended, and what of that could not be recorded, as far as is known.
    var (settled, unrecorded): ([SurrenderedRequest], [Ended]) = ([], [])
    /// What has ended and waits for another transaction, and when it is tried again.
    var (locked, lockedDue): ([Ended], MonotonicTime) = ([], .distantFuture)
    var arrivals: [Arrival] = []
    /// Whether the thread that looks waits, and whether it is to add the arrivals.
    var (isIdle, isOffered) = (false, false)
    var sending = Sending.pause
    /// What that thread is recording.
    var recording: [Ended] = []
    var errands: [FleetErrand] = []
    var keepings: [Keeping] = []
    var recordings = FleetRecordings()
    var schedules: [ScheduleName: ScheduledRequest] = [:]
    /// Changes with ``schedules``.
    var schedulesVersion = 1
    /// Why the last turn with the database failed.
    var trouble = FleetTrouble()
    /// Why submissions were refused last, and until when that counts if none comes.
    var (refusals, refusalsEnd) = (FleetTrouble(), MonotonicTime.distantFuture)
    /// The identifiers of which what waits in the fleet is to be cancelled, see ``cancelForLaunch(_:)``.
    var launchCancels: Set<TaskIdentifier> = []
    /// What is in the fleet and should not be: it is cancelled there, if nobody runs it yet.
    var unwanted: [RequestID] = []
    /// What somebody cancelled here while it went to the fleet.
    var cancelledOnTheWay: [RequestID] = []
    /// The requests that somebody has cancelled and that were told so here.
    var cancelled: Set<RequestID> = []
    /// What may have been recorded by this host without its knowledge, so that those who read its events do not know of it yet.
    var untold: Set<RequestID> = []
    /// The requests that wait and that this host could not read, and when.
    var illegible: [RequestID: MonotonicTime] = [:]
    /// How many requests were added that are due soon, see ``note(added:)``.
    var added = 0
    var isOver = false
    /// How many threads have not ended.
    var running = 0
  }
}

extension FleetAgent.State {
  /// Whether what has ended is left to the thread that sends: it is recording, or it waits, and so much has ended that recording it takes
  /// longer than to hand it over.
  var areForOutbox: Bool {
    switch sending {
    case .ends: true
    case .nothing: areManySettled
    case .submissions, .pause: false
    }
  }

  var areManySettled: Bool { settled.count + unrecorded.count >= Self.many }
  private static let many = 32

  /// What has ended, or as much of it as one transaction is to record: the rest stays. What an earlier incarnation held is not this host's to
  /// decide.
  mutating func takeEnded() -> [FleetAgent.Ended] {
    // If the host has claimed a request again, its earlier end was recorded, and only the answer was lost.
    let all = unrecorded.filter { isHeld($0) } + settled.compactMap { request in holding(of: request).map { (request, $0) } }
    (settled, unrecorded) = ([], [])
    let count = FleetAgent.countTogether(all.count) { all[$0].request.leftBytes }
    guard count < all.count else { return all }
    unrecorded = Array(all[count...])
    return Array(all[..<count])
  }

  /// The host's holding of what has settled; nil if that was an earlier one.
  private func holding(of settled: SurrenderedRequest) -> FleetAgent.Holding? {
    guard let holding = holdings[settled.record.id], holding.epoch == settled.fencingToken else { return nil }
    return holding
  }

  /// Whether the host holds it as it did when it ended.
  private func isHeld(_ ended: FleetAgent.Ended) -> Bool { holding(of: ended.request) != nil }

  /// Lets what waits for another transaction be recorded with the rest, if it has waited for long enough.
  mutating func retryLocked(_ now: MonotonicTime) {
    guard now >= lockedDue else { return }
    unrecorded += locked
    (locked, lockedDue) = ([], .distantFuture)
  }

  /// These could not be recorded now.
  ///
  /// - Returns: What is to be called, without the lock.
  mutating func refuse(_ ended: [FleetAgent.Ended], _ failure: FleetError) -> [() -> Void] {
    recordings.refuse(Set(ended.indices.lazy.map { ended[$0].request.record.id }), because: "\(failure)")
  }

  /// Those of these requests that the host holds and that have not ended.
  ///
  /// - Parameter taken: What has ended and is with the caller.
  func stillHeld(_ claims: [(id: RequestID, epoch: Int64)], besides taken: [FleetAgent.Ended]) -> [RequestID] {
    guard !claims.isEmpty else { return [] }
    var ended = Set(settled.indices.lazy.filter { holding(of: settled[$0]) != nil }.map { settled[$0].record.id })
    for some in [taken, unrecorded, recording, locked] {
      ended.formUnion(some.indices.lazy.filter { isHeld(some[$0]) }.map { some[$0].request.record.id })
    }
    return claims.filter { holdings[$0.id]?.epoch == $0.epoch && !ended.contains($0.id) }.map(\.id)
  }

  // By their places: requests are large, and each one that a loop hands out is copied.

  /// These are recorded. One that ended to be tried again may be here again already.
  mutating func letGo(of ended: [FleetAgent.Ended]) {
    for place in ended.indices where isHeld(ended[place]) {
      let id = ended[place].request.record.id
      holdings[id] = nil
      cancelled.remove(id)
    }
  }

  /// How many bytes the host's requests had when it claimed them.
  var heldBytes: Int { holdings.values.reduce(0) { $1.isHandedOver ? $0 + $1.bytes : $0 } }

  /// How many bytes what has ended has, and is here until the database takes it.
  ///
  /// - Parameter taken: What of that is with the caller.
  func endedBytes(besides taken: [FleetAgent.Ended]) -> Int {
    var sum = settled.indices.reduce(0) { $0 + settled[$1].leftBytes }
    for some in [taken, unrecorded, recording, locked] { sum += some.indices.reduce(0) { $0 + some[$1].request.leftBytes } }
    return sum
  }

  /// How many requests of each lane the host has and cannot read.
  var unreadCounts: [Int64: Int] {
    var counts: [Int64: Int] = [:]
    for holding in holdings.values where !holding.isHandedOver { counts[holding.lane, default: 0] += 1 }
    return counts
  }

  /// How many requests of each lane the host has, besides those that have ended, and those that it cannot read.
  ///
  /// - Parameter taken: Those of the ended ones that are with the caller.
  func heldCounts(besides taken: [FleetAgent.Ended]) -> [Int64: Int] {
    var counts: [Int64: Int] = [:]
    for holding in holdings.values where holding.isHandedOver { counts[holding.lane, default: 0] += 1 }
    // What the host has let go of meanwhile, or holds anew, is not among those.
    for ended in [taken, unrecorded, recording, locked] {
      for place in ended.indices where isHeld(ended[place]) { counts[ended[place].holding.lane, default: 0] -= 1 }
    }
    for place in settled.indices {
      if let holding = holding(of: settled[place]) { counts[holding.lane, default: 0] -= 1 }
    }
    return counts
  }
}

extension FleetAgent {
  /// The most requests of which it is known that this host cannot read them, and for how long that counts.
  private static let (mostIllegible, illegibleFor) = (1000, Duration.seconds(60))

  /// This host cannot read a request, which a newer one has written.
  func noteIllegible(_ id: RequestID) {
    state.withLock { state in
      if state.illegible.count >= Self.mostIllegible { state.illegible = [:] }
      state.illegible[id] = SystemClock.now
    }
  }

  /// Whether it is worth a try to take a request for what has come for it: what this host could not read a moment ago is for newer ones.
  func mayRead(_ id: RequestID) -> Bool {
    state.withLock { $0.illegible[id] }.map { SystemClock.now - $0 > Self.illegibleFor } ?? true
  }
}
