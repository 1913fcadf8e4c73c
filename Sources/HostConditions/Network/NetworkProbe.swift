import TaskModel

/// Observes the machine's network for the monitor, on its thread.
final class NetworkProbe {
  private let rule: NetworkRule
  private let receiveBuffer: Int32?
  private var events: NetlinkSocket?
  private var table: Result<NetworkTable, RouteDump.Failure>?
  /// When to read the table again; nil if it is up to date.
  private var refreshAt: MonotonicTime?
  private var lastDump: MonotonicTime?
  /// How often everything was read, and how often the kernel lost messages.
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

  /// The descriptor to poll; nil if there is none.
  var descriptor: Int32? { events?.descriptor }

  /// When to call ``refresh(at:)``; nil if the table is up to date until the descriptor becomes readable.
  var due: MonotonicTime? { refreshAt }

  /// Starts or stops observing. Without observing, no socket is open, so no change wakes the thread.
  func watch(_ wanted: Bool) {
    guard wanted != (table != nil || refreshAt != nil) else { return }
    events = nil
    table = nil
    lastDump = nil
    refreshAt = wanted ? MonotonicTime(nanoseconds: 0) : nil
  }

  /// Takes what the kernel sent.
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

  /// Reads all again.
  func refresh(at now: MonotonicTime) {
    dumps += 1
    lastDump = now
    // Opens the socket first, so that changes after the dump are reported.
    let opened = open()
    table = opened.flatMap { Self.dump() }
    if case .failure = table { self.refreshAt = now + Self.retry } else { self.refreshAt = nil }
  }

  /// Readings from the table, or from a fresh look at the machine if it is not observed.
  func readings(manager: ManagerMetered?) -> (network: Reading, unmetered: Reading) {
    switch table ?? Self.dump() {
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
    refreshAt = min(refreshAt ?? .distantFuture, max(now, earliest))
  }

  private func open() -> Result<Void, RouteDump.Failure> {
    guard events == nil else { return .success(()) }
    do {
      events = try NetlinkSocket(protocol: RouteProtocol.family, groups: RouteProtocol.groups, receiveBuffer: receiveBuffer)
      return .success(())
    } catch { return .failure(.init(reason: "netlink: \(error.call): \(TextFile.reason(error.code))")) }
  }

  private static func dump() -> Result<NetworkTable, RouteDump.Failure> {
    do { return .success(try RouteDump.make()) } catch { return .failure(error) }
  }
}
