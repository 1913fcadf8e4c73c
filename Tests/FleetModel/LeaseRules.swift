/// What keeps two hosts from running one request: the rules of hosts and of the SQL functions, which the model can leave out one by one.
package struct LeaseRules: Hashable, Sendable {
  package init() {}

  /// A host's runs are killed when four fifths of its lease are over.
  package var killsBeforeTheEnd = true
  /// The host counts its lease from before it sent the renewal, not from the answer.
  package var countsFromSending = true
  /// The kernel kills the runs of a host that is frozen.
  package var killsFrozen = true
  /// A run begins only while the host's lease lasts.
  package var beginsWithinLease = true
  /// `taskhost.hold_lease` within claims and ends.
  package var claimHoldsLease = true
  package var finishHoldsLease = true
  /// `taskhost.finish` ends only what its caller owns.
  package var finishAsksOwner = true
  /// The owner is an incarnation, not a host.
  package var ownsByIncarnation = true
  /// What a fenced host owned is ready again, in the same transaction or in a later one.
  package var requeuesFenced = true
  /// A host fences another one when it has seen that one's lease unchanged for as long as runs may last, by its own clock. Otherwise, when the
  /// database's wall clock says that the lease has ended.
  package var fencesByWatching = true
  /// Whether somebody sets the database's clock.
  package var setsClock = true
  /// How often the two hosts may join together.
  package var joins: Int8 = 2

  /// What hosts would do if they believed the database's clock, while nobody sets it.
  package static let believing = LeaseRules().without(\.fencesByWatching).without(\.setsClock)
}

extension LeaseRules {
  /// The rules without one of them.
  package func without(_ rule: WritableKeyPath<LeaseRules, Bool>) -> LeaseRules {
    var rules = self
    rules[keyPath: rule] = false
    return rules
  }
}
