import HostThreads
import Synchronization
import TaskModel

/// The clock of the fleet's database, as this host knows it: at each renewal of its lease it learns the time there.
///
/// In between it counts on its own boot clock, which nobody can set. So requests of the fleet are due by one clock, whichever host takes
/// their submissions or ends their runs, and setting a host's clock moves none of them.
///
/// - Source: F. Cristian, "Probabilistic clock synchronization" (1989): the time of an answer lies between those of the question and of its
///   arrival.
final class FleetClock: Sendable {
  /// How far it is ahead of the boot clock, in milliseconds; ``unknown`` at first.
  private let lead = Atomic(FleetClock.unknown)
  private static let unknown = Int64.min

  /// The time; nil while it is not known.
  var now: WallTime? {
    let lead = lead.load(ordering: .relaxed)
    return lead == Self.unknown ? nil : WallTime(unixMilliseconds: (SystemClock.bootNanoseconds / 1_000_000).adding(saturating: lead))
  }

  /// Notes what the database said.
  ///
  /// - Parameter asked: When it was asked, in nanoseconds on the boot clock; it has just answered.
  func note(_ time: WallTime, asked: Int64) {
    let most = time.unixMilliseconds.adding(saturating: -(asked / 1_000_000))
    // The least that it can be, with all parts of milliseconds against it: what is due now must not be due in the database's future.
    let least = time.unixMilliseconds.adding(saturating: -(SystemClock.bootNanoseconds / 1_000_000 + 1))
    let known = lead.load(ordering: .relaxed)
    if known < least || known > most { lead.store(least, ordering: .relaxed) }
  }
}
