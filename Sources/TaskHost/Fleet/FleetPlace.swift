import FleetStore
import HostThreads
import TaskModel

/// Where the host's fleet is, and as what the host joins it.
struct FleetPlace: Sendable {
  let address: String
  let host: FleetHost
  /// The 62 bits that all ids of the fleet share.
  let origin: UInt64

  /// Connects. Blocks for some seconds at most.
  ///
  /// - Parameters:
  ///   - left: What the last connection left at the server, see ``FleetSession/left``.
  ///   - patience: How long the server may take to answer.
  func connect(left: Int64? = nil, patience: Duration = .seconds(10)) throws(FleetError) -> FleetSession {
    let session = try FleetSession(address, name: host.name, patience: patience, left: left)
    guard session.origin == origin else {
      throw .refused("it is not the fleet that this host was launched in: restart the host to join another one")
    }
    return session
  }

  /// How much earlier than its lease the host's runs are dead.
  static func margin(of lease: Duration) -> Duration { lease / 5 }

  /// How long to wait after a number of failures in a row: a tenth of a second, doubled up to three, of which a third is random, so that the
  /// hosts of a fleet do not come back together.
  func pause(after failures: Int) -> Duration {
    let longest = min(Duration.milliseconds(100) * (1 << min(max(0, failures - 1), 5)), .seconds(3))
    return longest * Double.random(in: 0.67...1)
  }
}
