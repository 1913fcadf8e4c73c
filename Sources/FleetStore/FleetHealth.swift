package import TaskModel

/// What a look at a fleet's database has found, for `taskhost fleet doctor`.
package struct FleetHealth: Sendable {
  /// A transaction that has been open for long.
  package struct Transaction: Sendable, Equatable {
    /// Its server process, or the name of a prepared transaction.
    package let name: String
    package let isPrepared: Bool
    package let application: String
    package let user: String
    /// As `pg_stat_activity` says it: `active`, `idle in transaction`, ….
    package let state: String
    package let age: Duration
    /// Whether it holds a snapshot or a transaction id now.
    package let holdsSnapshot: Bool
    /// How many connections of hosts wait for its locks.
    package let waiting: Int64
  }

  /// A replication slot.
  package struct Slot: Sendable, Equatable {
    package let name: String
    package let isActive: Bool
    /// `reserved`, `extended`, `unreserved` or `lost`.
    package let status: String
    /// Bytes of the log that it keeps.
    package let kept: Int64
    /// Whether it keeps dead rows from being removed.
    package let holdsRows: Bool
  }

  /// A server that follows this one.
  package struct Standby: Sendable, Equatable {
    package let name: String
    /// `sync`, `quorum`, `potential`, `async`; empty if this user may not see it.
    package let mode: String
  }

  /// A table of the fleet.
  package struct Table: Sendable, Equatable {
    package let name: String
    package let live: Int64
    package let dead: Int64
    package let isVacuumed: Bool
  }

  /// Requests that have been ready for long.
  package struct Waiting: Sendable, Equatable {
    package let identifier: String
    package let first: RequestID
    package let needs: RunConstraints
    package let age: Duration
  }

  /// A request that is not well.
  package struct Ill: Sendable, Equatable {
    package let id: RequestID
    package let identifier: String
    package let lost: Int64
    /// Why it cannot be read; nil if it can.
    package let flaw: String?
  }

  /// The servers that the address names, if they are several.
  package var servers: [FleetServer] = []
  /// As `server_version_num`: 150018.
  package var server: Int64 = 0
  /// The version of the fleet's tables.
  package var schema: Int64 = FleetSchema.version
  /// The newest version that this program knows.
  package var known: Int64 { FleetSchema.version }
  package var isStandby = false
  /// How much the database's clock is ahead of this machine's.
  package var ahead: Duration = .zero
  /// How long the answer took, by which ``ahead`` may be wrong.
  package var trip: Duration = .zero
  package var user = ""
  /// Whether the user may see what others do.
  package var seesOthers = true
  package var connections: Int64 = 0
  package var mostConnections: Int64 = 100
  /// Whether a pool of connections stands in between.
  package var isPooled = false
  /// Settings as this user has them; times in milliseconds.
  package var settings: [String: String] = [:]
  package var transactions: [Transaction] = []
  package var slots: [Slot] = []
  package var standbys: [Standby] = []
  package var tables: [Table] = []
  /// Commits that wait for a synchronous standby for longer than they should.
  package var waitingCommits: Int64 = 0
  /// Tables and functions of the fleet that are not there. Nothing else was looked at then.
  package var missing: [String] = []
  /// How many of its functions call what others may have left in schemas such as `public`.
  package var openFunctions: Int64 = 0
  /// Whether the constraint is there that lets whoever fences a host wait for its transactions.
  package var fencesWait = true
  /// The fleet's indexes that are not there.
  package var missingIndexes: [String] = []
  /// What this user may not do that hosts do, such as `insert taskhost.claim`.
  package var lackingRights: [String] = []
  /// Tables that a crash of the server empties.
  package var unlogged: [String] = []
  /// Whether requests may get fencing tokens that are less than earlier owners had.
  package var tokensAreBehind = false
  /// The partitions of today and tomorrow that are not there.
  package var missingDays: [String] = []
  /// Why the fleet's tables were not read; nil if they were. What follows is empty then.
  package var unread: FleetError?
  package var members: [FleetMember] = []
  /// Identifiers with pending requests that no live host has.
  package var homeless: [String] = []
  package var waiting: [Waiting] = []
  package var ill: [Ill] = []
  /// Pending requests that no host would find, of those that were looked at.
  package var strays: (count: Int64, first: RequestID?) = (0, nil)
  /// Pending requests whose lanes are not there, of those that were looked at.
  package var laneless: (count: Int64, first: RequestID?) = (0, nil)
  /// How many requests are held by hosts that the database does not know.
  package var heldByNobody: Int64 = 0

  package init() {}
}
