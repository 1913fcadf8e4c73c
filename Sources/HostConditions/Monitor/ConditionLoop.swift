import Glibc
import HostThreads
import TaskModel

/// The monitor's thread: waits for changes of the machine, and reads conditions that are due. Only that thread uses the object.
final class ConditionLoop {
  private let shared: ConditionShared
  private let clock: any HostClock
  private let changed: @Sendable (ConditionReport) -> Void
  private let network: NetworkProbe
  private let manager: NetworkManagerBus
  /// Whether NetworkManager was asked since the last change of the network.
  private var isManagerAsked = false
  private let systemBus: String?
  private let powerEvents = PowerEvents()
  private let powerRule: PowerRule
  private let powerSupplies: String
  private let idle: IdleProbe
  private let triggers: PressureTriggers
  private let storage: StorageProbe
  private var published: ConditionReport
  /// Conditions to read because of an event, even if not due.
  private var called: Conditions = []

  private static let ofNetwork: Conditions = [.network, .unmetered]
  private static let ofPower: Conditions = [.power, .batteryNotLow]

  /// - Parameter published: The report that the monitor was created with.
  init(
    shared: ConditionShared, published: ConditionReport, settings: ConditionSettings, sources: ConditionSources, clock: any HostClock,
    changed: @escaping @Sendable (ConditionReport) -> Void
  ) {
    self.shared = shared
    self.clock = clock
    self.changed = changed
    network = NetworkProbe(rule: NetworkRule(meteredInterfaces: settings.meteredInterfaces), receiveBuffer: sources.routeBuffer)
    manager = NetworkManagerBus(path: sources.systemBus)
    systemBus = sources.systemBus
    powerRule = PowerRule(low: settings.batteryLow, okay: settings.batteryOK)
    powerSupplies = sources.powerSupplies
    idle = IdleProbe(sources: sources, rule: IdleRule(settings))
    triggers = PressureTriggers(directory: sources.pressure, percent: settings.busyPressure)
    storage = StorageProbe(path: sources.storage, rule: StorageRule(settings))
    self.published = published
  }

  func run() {
    while true {
      let orders = shared.takeOrders()
      observe(orders.interest)
      if !orders.isStopping {
        read()
        publish()
      }
      for waiting in orders.looks { waiting.set(look(at: orders.interest)) }
      if orders.isStopping { break }
      wait()
    }
    observe([])
    triggers.watch(false)
    shared.end.set(())
  }

  /// Opens and closes the sources of change events.
  private func observe(_ interest: Conditions) {
    network.watch(!interest.isDisjoint(with: Self.ofNetwork))
    powerEvents.watch(!interest.isDisjoint(with: Self.ofPower))
    guard !interest.contains(.unmetered) else { return }
    manager.close()
    isManagerAsked = false
  }

  private func read() {
    let now = clock.monotonicTime
    let due = shared.core { $0.due(at: now) }
    // Refresh the table first, so that delays end with current data.
    if let refresh = network.due, refresh <= now || !due.isDisjoint(with: Self.ofNetwork) {
      network.refresh(at: now)
      called.formUnion(Self.ofNetwork)
      isManagerAsked = false
    }
    let wanted = shared.core { due.union(called).intersection($0.interest) }
    called = []
    guard !wanted.isEmpty else { return }
    if wanted.contains(.unmetered), !isManagerAsked {
      manager.ask()
      isManagerAsked = true
    }
    let readings = readings(of: wanted, manager: manager.metered)
    // Take the time after the reading: a state that began during the reading must not count as older.
    let (seen, wall) = (clock.monotonicTime, clock.wallTime)
    shared.core { $0.observe(readings, at: seen, wall: wall) }
    shared.count {
      $0.readings += readings.count
      $0.dumps = network.dumps
      $0.overruns = network.overruns
    }
  }

  private func readings(of wanted: Conditions, manager: ManagerMetered?) -> [(condition: Conditions, reading: Reading)] {
    var found: [(condition: Conditions, reading: Reading)] = []
    if !wanted.isDisjoint(with: Self.ofNetwork) {
      let (network, unmetered) = network.readings(manager: manager)
      found += [(.network, network), (.unmetered, unmetered)]
    }
    if !wanted.isDisjoint(with: Self.ofPower) {
      do {
        let supplies = try PowerSupplyReader.read(powerSupplies)
        found += [(.power, powerRule.power(supplies)), (.batteryNotLow, powerRule.battery(supplies))]
      } catch {
        found += [.power, .batteryNotLow].map { ($0, .unknown("not known, which counts as held: \(error.reason)")) }
      }
    }
    if wanted.contains(.idle) { found.append((.idle, idle.read())) }
    if wanted.contains(.storageNotLow) { found.append((.storageNotLow, storage.read())) }
    return found.filter { wanted.contains($0.condition) }
  }

  /// Calls `changed` without holding a lock.
  private func publish() {
    let report = shared.core { $0.report }
    let idle = report[.idle]
    triggers.watch(idle?.isWatched == true && idle?.holds == true && idle?.isOverridden == false)
    guard !report.decides(as: published) else { return }
    published = report
    changed(report)
  }

  /// A report with fresh readings of conditions outside `interest`.
  private func look(at interest: Conditions) -> ConditionReport {
    let now = clock.monotonicTime
    let wall = clock.wallTime
    let others = Conditions.all.subtracting(interest)
    let asked = NetworkManagerBus(path: others.contains(.unmetered) ? systemBus : nil)
    asked.ask()
    let readings = readings(of: others, manager: asked.metered)
    return shared.core { $0.report(lookingAt: readings, at: now, wall: wall) }
  }

  /// Sleeps until a reading is due, an event arrives, or a caller wakes the thread.
  private func wait() {
    var entries = [pollfd(fd: shared.event, events: Int16(POLLIN), revents: 0)]
    for descriptor in [network.descriptor, powerEvents.descriptor, manager.descriptor] {
      // poll ignores a negative descriptor.
      entries.append(pollfd(fd: descriptor ?? -1, events: Int16(POLLIN), revents: 0))
    }
    for descriptor in triggers.descriptors { entries.append(pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0)) }
    guard poll(&entries, nfds_t(entries.count), timeout()) >= 0 else { return }
    shared.count { $0.wakeUps += 1 }
    if entries[1].revents != 0 { network.receive(at: clock.monotonicTime) }
    if entries[2].revents != 0, powerEvents.receive() { called.formUnion(Self.ofPower) }
    if entries[3].revents != 0, manager.receive() { called.insert(.unmetered) }
    let told = entries[4...].reduce(Int32(0)) { $0 | Int32($1.revents) }
    if told != 0 { called.insert(.idle) }
    if told & (POLLERR | POLLNVAL) != 0 { triggers.giveUp() }
  }

  /// Milliseconds until the next reading is due, rounded up; negative waits forever.
  private func timeout() -> Int32 {
    guard let due = [shared.core { $0.nextDue }, network.due].compactMap({ $0 }).min() else { return -1 }
    let left = due - clock.monotonicTime
    return left <= .zero ? 0 : Int32(clamping: (left.wholeNanoseconds - 1) / 1_000_000 + 1)
  }
}
