package import TaskModel
package import TaskStore

/// A host as it joins a fleet.
package struct FleetHost: Sendable {
  /// The name that people see; not unique.
  package var name: String
  /// The version of taskhost.
  package var program: String
  /// What the operator says of it, such as `gpu`.
  package var labels: [String]
  /// The identifiers whose requests it runs.
  package var identifiers: [TaskIdentifier]

  package init(name: String, program: String, labels: [String], identifiers: [TaskIdentifier]) {
    (self.name, self.program, self.labels, self.identifiers) = (name, program, labels, identifiers)
  }
}

/// The result of a renewal.
package struct FleetRenewal: Sendable, Hashable {
  /// Whether somebody wants the host to take nothing more.
  package let isDraining: Bool
  /// How many requests of hosts that were fenced are ready again.
  package let requeued: Int64
  /// The other hosts that are not fenced, by their incarnations, with the numbers of their renewals.
  package let others: [String: Int64]
  /// Since when hosts of the fleet have been up without a gap, by the database's clock.
  package let awakeSince: WallTime
  /// The database's time when it answered.
  package let at: WallTime?
  /// Whether an operator wants what the host holds for others: see ``FleetSession/askToLeave(_:)``.
  package let isLeaving: Bool
}

/// A lane with its number in the fleet.
package struct FleetLane: Sendable, Hashable {
  package let id: Int64
  package let lane: Lane

  package init(id: Int64, lane: Lane) { (self.id, self.lane) = (id, lane) }
}

/// Asks in which lanes with needs requests are ready, besides those that are asked for and watched.
package struct FleetLaneSearch: Sendable {
  /// Those of these identifiers.
  package let identifiers: [TaskIdentifier]
  /// Where it begins: where the last one ended.
  package let start: Int64
  /// Those that need the same as one of these, which have no concurrency keys, are passed over, whatever their keys.
  package let shut: Set<Lane>

  package init(_ identifiers: [TaskIdentifier], from start: Int64 = 0, besides shut: Set<Lane> = []) {
    (self.identifiers, self.start, self.shut) = (identifiers, start, shut)
  }

  package struct Result: Sendable {
    /// At most 200.
    package var lanes: [FleetLane] = []
    /// Lanes with needs that only a newer host knows: this one leaves them alone.
    package var unreadable: [Int64] = []
    /// Until where it has looked: where it began, if it has come round.
    package var reached: Int64 = 0
  }
}

/// How much of a lane a host wants.
package struct FleetDemand: Sendable {
  package var lane: Int64
  /// How many requests at most.
  package var limit: Int
  /// Whose lane it is: of all lanes of an identifier together, no more is claimed than the greatest of their limits. What is limited is claimed
  /// in the order of the identifiers.
  package let identifier: TaskIdentifier
  /// How many runs of the lane's concurrency key the fleet may have at a time; nil for no limit.
  package var runsPerKey: Int?
  /// How many claims of the identifier the fleet may make in a period.
  package var rate: (count: Int, period: Duration)?
  /// The same for the lane's concurrency key.
  package var ratePerKey: (count: Int, period: Duration)?
  /// The label or the name of the hosts that get the lane's requests first, see ``Preference``; nil for none.
  package var prefers: String?

  package init(_ identifier: TaskIdentifier, lane: Int64, limit: Int) {
    (self.identifier, self.lane, self.limit) = (identifier, lane, limit)
  }

  /// Whether hosts that claim it wait for each other.
  package var isLimited: Bool { runsPerKey != nil || rate != nil || ratePerKey != nil }
}

/// A request that the host owns until its lease ends.
package struct ClaimedRequest: Sendable {
  package let id: RequestID
  package let lane: Int64
  package let rank: Int64
  /// The fencing token: a later owner has a greater one.
  package let epoch: Int64
  /// How many owners in a row were fenced while they held it.
  package let lost: Int
  /// The payload of the event that woke it, for its next run; nil for the submitted one.
  package let eventPayload: [UInt8]?
  /// What its earlier runs saved for the next one; nil for nothing.
  package let checkpoint: [UInt8]?
  /// Of a dead letter that was taken: whether another request has its unique key.
  package var isHeld = false
  /// The request with its payload, or why it cannot be read.
  package let record: Result<RequestRecord, RecordText.Flaw>
  /// Of the payloads and the checkpoint.
  package let bytes: Int

  /// The most bytes that a claim gives at once, unless a few requests have more.
  package static let bytesTogether = 16 << 20
}

/// What became of a request that the host owned: pending again, or ended.
package struct SettledRequest: Sendable {
  package var record: RequestRecord
  /// Where it waits, if it ``mayRunAgain``.
  package var lane: Int64
  /// The epoch of the claim that it ends, see ``ClaimedRequest/epoch``; 0 for whichever one the host has.
  package var epoch: Int64 = 0
  /// The runs that ended meanwhile, oldest first.
  package var runs: [RunRecord]
  /// The payload of an event for the next run; nil for the submitted one.
  package var eventPayload: [UInt8]?
  /// What the runs saved for the next one; nil for nothing.
  package var checkpoint: [UInt8]?
  /// Whether the payload may be another one than before.
  package var hasNewPayload = false
  /// What it waits for, or waited for, if the host has read that.
  package var edges: [DependencyRecord] = []

  package init(record: RequestRecord, lane: Int64 = 0, runs: [RunRecord], eventPayload: [UInt8]? = nil, checkpoint: [UInt8]? = nil) {
    (self.record, self.lane, self.runs) = (record, lane, runs)
    (self.eventPayload, self.checkpoint) = (eventPayload, checkpoint)
  }

  /// Bytes of its values in a message, besides some hundred.
  var valueBytes: Int {
    (hasNewPayload ? record.request.payload.count : 0) + (eventPayload?.count ?? 0) + (checkpoint?.count ?? 0)
      + runs.reduce(0) { $0 + $1.report.valueBytes }
  }

  /// Whether it stays a request, if only as a dead letter.
  package var mayRunAgain: Bool { record.state != .succeeded && record.state != .cancelled }
}

/// The result of ``FleetSession/exchange(_:settling:adding:wanting:watching:searching:pauses:)``.
package struct FleetExchange: Sendable {
  /// What became of the request to add; nil if there was none.
  package var added: NamedSubmission?
  /// The settled requests that were not the host's to decide any more.
  package var fenced: [RequestID] = []
  package var claimed: [ClaimedRequest] = []
  /// The requests of the host, and of nobody, that somebody has cancelled while a host had them.
  package var cancelled: [RequestID] = []
  /// Requests that nobody has and whose deadline has passed.
  package var late: [RequestID] = []
  /// Events that came while a host had the request that waits for them, and that nobody has told it yet.
  package var unheard: [(request: RequestID, event: FleetEvent)] = []
  /// Blocked requests that nobody has, and of whose predecessors some have ended.
  package var undecided: [RequestID] = []
  /// Whether there may be more of those two.
  package var mayHaveMoreUnheard: Bool { max(unheard.count, undecided.count) >= Self.mostUnheard }
  /// The most that comes of each of them at once.
  static let mostUnheard = 500
  /// The watched lanes in which requests are ready that the host has not got.
  package var waiting: Set<Int64> = []
  /// The number of requests, of all identifiers, that have become due.
  package var promoted: Int64 = 0
  /// The fleet's pauses, if they have changed.
  package var pauses: FleetPauses?
  /// What was found in other lanes; nil if that was not asked.
  package var search: FleetLaneSearch.Result?
  /// The database's time.
  package var at: WallTime?
  /// How long until the next request of any identifier is due, or one that prefers another host may be taken; nil if none waits.
  package var nextDue: Duration?
}

/// Where a request of the fleet is, or who could take it.
package struct FleetPlacement: Sendable {
  /// The host that has it, and since when, by the database's clock; nil if nobody has.
  package var owner: (host: String, since: WallTime)?
  /// The hosts that have a handler for it, each with the reason for which it takes nothing of its kind now; nil for none.
  package var hosts: [(name: String, reason: String?)] = []
  /// Those of them that get it first, and until when the others leave it to them; nil if nobody waits.
  package var preferred: (hosts: [String], until: WallTime)?

  /// One that no host has, and that no host could take.
  package init() {}
}

/// A checked request on its way in. Its record has no id of the fleet yet.
package struct FleetDraft: Sendable {
  package var record: RequestRecord
  package var lane: Int64
  /// A hash of the submission, for its idempotency key.
  package var fingerprint: UInt64
  /// Whether the record has an id that the database has drawn.
  package var isDrawn = false
  /// What it waits for, or waited for.
  package var edges: [DependencyRecord] = []

  package init(record: RequestRecord, lane: Int64, fingerprint: UInt64 = 0) {
    (self.record, self.lane, self.fingerprint) = (record, lane, fingerprint)
  }
}

/// What a submission with a key did.
package struct NamedSubmission: Sendable, Hashable {
  package enum Known: String, Sendable {
    /// It was added.
    case new
    /// A live request holds its unique key.
    case held
    /// Its idempotency key was used for the same submission before.
    case repeated
    /// Its idempotency key was used for another submission before.
    case different
  }

  package let id: RequestID
  package let known: Known
}

/// An event that has reached the fleet.
package struct FleetEvent: Sendable, Hashable {
  package let name: String
  /// What the runs get that it wakes; nil for the submitted payload.
  package let payload: [UInt8]?

  package init(name: String, payload: [UInt8]?) { (self.name, self.payload) = (name, payload) }
}

/// An event that is noted for a request, which a host had as it came.
package typealias FleetNote = (request: RequestID, event: FleetEvent)
