package import FleetStore
import Glibc
import HostThreads
import TaskModel

/// Takes what hosts of a fleet hold, once their runs are dead: `taskhost fleet fence`.
package enum FleetFencing {
  /// What became of the hosts.
  package struct Result: Sendable {
    /// How many hosts there are with that name.
    package var hosts = 0
    /// How many requests they held.
    package var requests: Int64 = 0
    /// How many have said themselves that nothing runs.
    package var acknowledged = 0
    /// How many gave no sign of life for so long that their runs are dead.
    package var silent = 0
    /// How many requests are still held by hosts that have not left in time; nil if all have left.
    package var left: Int64?
  }

  /// How often it is looked.
  private static let pause = Duration.milliseconds(200)

  /// Asks hosts to give up what they hold, and waits until they have, or until their runs must be dead: no clock of another machine decides
  /// that, see ``FleetWatch``.
  ///
  /// - Parameters:
  ///   - asked: Their incarnations. Those that are fenced by now are left out.
  ///   - limit: How long to wait; nil for a minute, or three leases if that is more.
  ///   - progress: Told how many hosts have not left, and what they hold.
  package static func run(
    _ address: String, hosts asked: [String], within limit: Duration?, _ progress: (_ hosts: Int, _ held: Int64) -> Void
  ) throws(FleetError) -> Result {
    let session = try FleetSession(address, name: "fleet fence")
    let incarnations = try session.askToLeave(asked)
    var result = Result(hosts: incarnations.count)
    result.requests = try session.leaving(incarnations).reduce(0) { $0 + $1.held }
    var watch = FleetWatch(lasting: session.lease - FleetPlace.margin(of: session.lease))
    let end = SystemClock.now + (limit ?? max(.seconds(60), session.lease * 3))
    while true {
      let now = SystemClock.bootNanoseconds
      let hosts = try session.leaving(incarnations)
      let open = hosts.filter { !$0.hasLeft }
      watch.note(Dictionary(open.map { ($0.incarnation, $0.renewals) }) { first, _ in first }, at: SystemClock.bootNanoseconds)
      guard !open.isEmpty else {
        result.silent = hosts.count(where: \.wasSilent)
        result.acknowledged = result.hosts - result.silent
        return result
      }
      let dead = watch.silent(at: now)
      guard dead.isEmpty else {
        try session.fence(silent: dead)
        continue
      }
      let held = open.reduce(0) { $0 + $1.held }
      guard SystemClock.now < end else {
        result.left = held
        return result
      }
      progress(open.count, held)
      poll(nil, 0, Int32(clamping: pause.wholeMilliseconds))
    }
  }
}
