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
  /// How long until the next lease of another host ends, if nobody renews it; nil if there is no other.
  package let nextEnd: Duration?
}

/// A lane with its number in the fleet.
package struct FleetLane: Sendable, Hashable {
  package let id: Int64
  package let lane: Lane
}

/// How much of a lane a host wants.
package struct FleetDemand: Sendable, Hashable {
  package var lane: Int64
  /// How many requests at most.
  package var limit: Int
  /// The rank below which the lane was found empty a moment ago.
  package var lowestRank: Int64

  package init(lane: Int64, limit: Int, lowestRank: Int64 = .min) {
    (self.lane, self.limit, self.lowestRank) = (lane, limit, lowestRank)
  }
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
  /// The request with its payload, or why it cannot be read.
  package let record: Result<RequestRecord, RecordText.Flaw>
  /// Whether no host has seen it: an application's own transaction has submitted it.
  package let isUnchecked: Bool
}

/// What became of a request that the host owned: pending again, or ended.
package struct SettledRequest: Sendable {
  package var record: RequestRecord
  package var lane: Int64
  /// The runs that ended meanwhile, oldest first.
  package var runs: [RunRecord]

  package init(record: RequestRecord, lane: Int64, runs: [RunRecord]) {
    (self.record, self.lane, self.runs) = (record, lane, runs)
  }
}

/// The result of ``FleetSession/exchange(_:settling:wanting:)``.
package struct FleetExchange: Sendable {
  /// The settled requests that were not the host's to decide any more.
  package var fenced: [RequestID] = []
  package var claimed: [ClaimedRequest] = []
  /// The number of requests, of all identifiers, that have become due.
  package var promoted: Int64 = 0
  /// How many lanes there are, of all identifiers.
  package var laneCount: Int64 = 0
  /// How long until the next request of any identifier is due; nil if none waits.
  package var nextDue: Duration?
}

/// A checked request on its way in. Its record has no id of the fleet yet.
package struct FleetDraft: Sendable {
  package var record: RequestRecord
  package var lane: Int64
  /// A hash of the submission, for its idempotency key.
  package var fingerprint: UInt64

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
