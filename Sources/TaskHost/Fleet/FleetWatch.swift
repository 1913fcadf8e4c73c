import TaskModel

/// What a host has seen of the others' leases, by its own boot clock: no clock of another machine decides whose lease has ended.
///
/// A host had counted its lease from before it sent a renewal that another one sees later. So when that other one has seen no further
/// renewal for as long as runs may last, the runs are dead. `Documentation/decisions/fleet-leases.md` has the proof.
struct FleetWatch {
  private var seen: [String: (renewals: Int64, since: Int64)] = [:]
  /// How long runs may last after a renewal, in nanoseconds.
  private let lasting: Int64

  init(lasting: Duration) { self.lasting = lasting.wholeNanoseconds }

  /// Notes the numbers of renewals of the other hosts, as they were at `now` or earlier.
  mutating func note(_ others: [String: Int64], at now: Int64) {
    seen = others.reduce(into: [:]) { next, other in
      let before = seen[other.key]
      next[other.key] = before?.renewals == other.value ? before : (other.value, now)
    }
  }

  /// The hosts whose runs are dead, with the numbers of renewals that say so.
  func silent(at now: Int64) -> [String: Int64] {
    seen.filter { now.subtracting(saturating: $0.value.since) >= lasting }.mapValues(\.renewals)
  }

  /// How long until the next host may be silent; nil if none is watched that is not.
  func next(after now: Int64) -> Duration? {
    let left = seen.values.map { $0.since.adding(saturating: lasting).subtracting(saturating: now) }.filter { $0 > 0 }.min()
    return left.map { .nanoseconds($0) }
  }
}
