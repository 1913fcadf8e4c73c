import TaskModel

/// Observes the machine's network for the monitor, on its thread.
final class NetworkProbe {
  private let rule: NetworkRule
  private let receiveBuffer: Int32?
  private var events: NetlinkSocket?
  private var table: Result<NetworkTable, RouteDump.Failure>?
  /// When to call ``refresh(at:)``; nil while the table is current.
  private(set) var due: MonotonicTime?
  private var lastDump: MonotonicTime?
  private(set) var dumps = 0
  private(set) var overruns = 0

  /// The pause between two dumps, so that many changes do not cause as many dumps.
  private static let pause = Duration.milliseconds(250)
  /// The delay after a failed dump.
  private static let retry = Duration.seconds(30)

  init(rule: NetworkRule, receiveBuffer: Int32?) {
    self.rule = rule
    self.receiveBuffer = receiveBuffer
  }

  var descriptor: Int32? { events?.descriptor }

  /// Starts or stops observing. While stopped, no socket is open, so no change wakes the thread.
  func watch(_ wanted: Bool) {
    guard wanted != (table != nil || due != nil) else { return }
    events = nil
    table = nil
    lastDump = nil
    due = wanted ? MonotonicTime(nanoseconds: 0) : nil
  }

  func receive(at now: MonotonicTime) {
    guard let events else { return }
    while true {
      switch events.receive() {
      case .nothing: return
      case .lost:
        overruns += 1
        refreshSoon(now)
      case .failed:
        self.events = nil
        refreshSoon(now)
        return
      case .datagram(let bytes):
        let known = (try? table?.get()) ?? NetworkTable()
        if RouteParser(bytes).messages().messages.contains(where: known.isStale) { refreshSoon(now) }
      }
    }
  }

  func refresh(at now: MonotonicTime) {
    dumps += 1
    lastDump = now
    table = Result { () throws(RouteDump.Failure) in
      // Open the socket first, so that changes after the dump are reported.
      try open()
      return try RouteDump.make()
    }
    if case .failure = table { due = now + Self.retry } else { due = nil }
  }

  /// Readings from the table, or from a fresh dump if the network is not observed.
  func readings(manager: ManagerMetered?) -> (network: Reading, unmetered: Reading) {
    switch table ?? Result(catching: RouteDump.make) {
    case .success(let table): (rule.network(table), rule.unmetered(table, manager: manager))
    case .failure(let failure):
      (
        .unknown("the network is not known, which counts as held: \(failure.reason)"),
        .unknown("whether the network is metered is not known, which counts as not metered: \(failure.reason)")
      )
    }
  }

  private func refreshSoon(_ now: MonotonicTime) {
    let earliest = lastDump.map { $0 + Self.pause } ?? now
    due = min(due ?? .distantFuture, max(now, earliest))
  }

  private func open() throws(RouteDump.Failure) {
    guard events == nil else { return }
    do throws(NetlinkSocket.Failure) {
      events = try NetlinkSocket(protocol: RouteProtocol.family, groups: RouteProtocol.groups, receiveBuffer: receiveBuffer)
    } catch { throw RouteDump.Failure(reason: "netlink: \(error.call): \(TextFile.reason(error.code))") }
  }
}
