import FleetStore
import HostThreads
public import TaskModel
import TaskScheduler
import TaskStore

// The problems that the operator should know about or must solve.

extension Host {
  /// All problems of the host, in no particular order.
  func problems(
    _ handlers: [TaskIdentifier: HandlerOverview], _ activity: [TaskActivity], _ shared: SharedActivity
  ) async -> [Problem] {
    let now = SystemClock().wallTime
    launchedFiles.lookAtStore()
    launchedFiles.lookAtLock()
    var problems = board.all + surroundings.overrides.all.map(\.problem)
    problems += await pauses().map { $0.problem(at: now) }
    problems += handlers.compactMap { $1.problem(of: $0.rawValue, now: now) }
    problems += handlers.compactMap { identifier, handler in handler.shortage.map { Self.problem(identifier, $0) } }
    let ownFull = handlers.filter { $1.isFull && fleet?.identifiers.contains($0) != true }.keys
    problems += ownFull.map { Self.fullProblem($0, "max_pending = \(configuration.maxPending)") }
    problems += shared.full.map { Self.fullProblem($0, "fleet.max_pending = \(configuration.fleet.maxPending)") }
    problems += activity.compactMap(\.schedule.problem)
    if let fleet, let trouble = fleet.agent.trouble {
      let parked = await fleet.agent.parkedCount()
      let sum = "\(parked) \(parked == 1 ? "is" : "are") parked here until then"
      let kept = parked == 0 ? "" : "; \(sum) (taskhost tasks list state:paused)"
      problems.append(
        Problem(
          .fleet, of: configuration.fleetName,
          "\(trouble): what the fleet has is neither listed nor run here, and submissions are refused\(kept)",
          remedy: "look after the database: taskhost fleet doctor; the host's own work goes on", since: fleet.agent.troubleSince,
          needsAction: true))
    }
    if let fleet, fleet.agent.trouble == nil, let refusals = fleet.agent.refusals {
      problems.append(
        Problem(
          .fleet, of: configuration.fleetName, "what is submitted here for the fleet is refused: \(refusals.reason)",
          remedy: "look after the database: taskhost fleet doctor", since: refusals.since, needsAction: true))
    }
    if let trouble = events.storeTrouble, !trouble.error.isReplaced { problems.append(problem(trouble.error, since: trouble.since)) }
    do throws(StoreError) {
      let (letters, overdue) = try storeReports()
      problems += DeadLetters.joined(letters + shared.deadLetters).map(Self.problem)
      if phase == .launched { problems += await overdueWork(overdue + shared.overdue) }
    } catch {
      if events.storeTrouble == nil, !error.isReplaced { problems.append(problem(error, since: nil)) }
    }
    return problems
  }

  /// The requests that need attention: dead letters, failing schedules, and the oldest overdue requests.
  public func requestsWithProblems(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] {
    let pauses = await pauseBook()
    let shared = await sharedActivity(onlyFailing: true)
    var failed = query
    failed.states = [.failed]
    var found = try await requests(failed)
    do {
      let schedules = try store.schedules(limit: Self.shownSchedules, onlyFailing: true) + shared.schedules
      found += schedules.filter(\.isFailing).compactMap(\.request)
      let now = SystemClock().wallTime
      found += (try store.overdue(by: now + (.zero - configuration.overdueAfter)) + shared.overdue)
        .filter { $0.paused == nil && pauses.holding($0, now: now).isEmpty }
    } catch { throw RequestRefusal(error) }
    var seen: Set<RequestID> = []
    return Array(found.filter { query.matches($0) && seen.insert($0.id).inserted }.sorted { $0.id > $1.id }.prefix(query.limit))
  }

  /// The maximum number of identifiers whose overdue work is explained.
  private static let explained = 50
  /// Gates that the request itself asked for: waiting for them is normal.
  private static let ownGates: Set<String> = ["conditions", "window", "event", "time", "backoff", "predecessor"]

  /// The store's reports of requests that may need attention. The health check reads them too, to test whether the store is readable.
  func storeReports() throws(StoreError) -> (letters: [DeadLetters], overdue: [RequestRecord]) {
    (try store.deadLetters(), try store.overdue(by: SystemClock().wallTime + (.zero - configuration.overdueAfter)))
  }

  private func overdueWork(_ overdue: [RequestRecord]) async -> [Problem] {
    var oldest: [TaskIdentifier: RequestRecord] = [:]
    // What somebody holds back is late on purpose.
    let (pauses, now) = (await pauseBook(), SystemClock().wallTime)
    for record in overdue where oldest[record.request.identifier] == nil {
      if record.paused == nil, pauses.holding(record, now: now).isEmpty { oldest[record.request.identifier] = record }
    }
    var problems: [Problem] = []
    for (identifier, record) in oldest.sorted(by: { $0.value.due < $1.value.due }).prefix(Self.explained) {
      var explanation = await withCheckedContinuation { continuation in
        scheduler.explanation(of: record, edges: [], lastEnded: nil) { explanation, _ in continuation.resume(returning: explanation) }
      }
      let isItsOwn = !explanation.gates.isEmpty && explanation.gates.allSatisfy { Self.ownGates.contains($0.kind) }
      var reasons = explanation.gates.map(\.sentence)
      if let placement = await placement(of: record) {
        guard placement.owner == nil else { continue }
        explanation.place(placement, of: record, at: configuration.fleetName)
        reasons = explanation.gates.map(\.sentence)
        // A host that could take it gives no reason.
        if reasons.isEmpty { reasons = ["no host has taken it: those that could are busy with others"] }
      }
      // A request without gates is about to begin.
      guard !reasons.isEmpty else { continue }
      problems.append(
        Problem(
          .overdue, of: identifier.rawValue, "work of \(identifier) is overdue: \(reasons.joined(separator: "; "))",
          remedy: "taskhost tasks why \(record.id)", since: record.due, needsAction: !isItsOwn))
    }
    return problems
  }

  /// Where a request of the fleet is; nil for others, and if the database does not say so.
  private func placement(of record: RequestRecord) async -> FleetPlacement? {
    guard fleet?.has(record.id) == true else { return nil }
    return await askFleet { (session) throws(FleetError) in
      try session.placement(of: record.id, preferring: record.request.gates.preferredHosts)
    } ?? nil
  }

  private static func problem(_ identifier: TaskIdentifier, _ shortage: HostShortage) -> Problem {
    let (kind, remedy): (Problem.Kind, String) =
      switch shortage.cause {
      case .resources:
        (
          .shortage,
          "give the host more threads, descriptors or memory (TasksMax, LimitNOFILE and MemoryMax of its unit, ulimit -u and -n)"
        )
      case .paths: (.path, "put back what was there and let the host's user reach it, or restart the host, which then takes what is there")
      case .worker: (.worker, "see that taskhost-worker is there, of the same release as taskhost, and what it wrote to the host's log")
      }
    return Problem(
      kind, of: identifier.rawValue,
      "runs of \(identifier) cannot begin: \(shortage.sentence); its requests stay pending, and it is tried again within a minute",
      remedy: remedy, since: shortage.since)
  }

  private static func fullProblem(_ identifier: TaskIdentifier, _ limit: String) -> Problem {
    Problem(
      .full, of: identifier.rawValue, "\(identifier) has as many live requests as it may have (\(limit)): submissions are refused",
      remedy: "see why they do not end (taskhost tasks list identifier:\(identifier)), cancel some, or raise the limit")
  }

  private func problem(_ error: StoreError, since: WallTime?) -> Problem {
    Problem(
      .storeFailing, of: launchedFiles.storePath, "the store: \(error.observed); submissions are refused, and no runs start",
      remedy: error.remedy ?? "look at the host's log, and at the disk of the state directory", since: since)
  }

  private static func problem(_ letters: DeadLetters) -> Problem {
    let (count, identifier) = (letters.count, letters.identifier)
    return Problem(
      .deadLetters, of: identifier.rawValue,
      "\(count == 1 ? "1 request of \(identifier) has" : "\(count) requests of \(identifier) have") failed for good",
      remedy: "taskhost tasks retry --all --identifier \(identifier), or taskhost tasks discard --all --identifier \(identifier)",
      since: letters.oldest)
  }
}

extension StoreError {
  /// Whether its files were replaced or cut short, which is reported as a separate problem.
  fileprivate var isReplaced: Bool {
    switch self {
    case .replaced, .cut: true
    default: false
    }
  }
}

extension Pause {
  fileprivate func problem(at now: WallTime) -> Problem {
    Problem(.paused, "\(sentence(at: now)): what it holds does not begin", remedy: remedy, since: since, needsAction: false)
  }
}

extension ScheduleRecord {
  fileprivate var problem: Problem? {
    guard isFailing else { return nil }
    let last = lastRun?.report.message.map { ": \($0)" } ?? ""
    let outcome = lastRun?.outcome?.rawValue ?? "failed"
    return Problem(
      .failing, of: name,
      failures == 1
        ? "the last run of \(name) failed (\(outcome))\(last)" : "the last \(failures) runs of \(name) failed (\(outcome))\(last)",
      remedy: lastRun.map { "taskhost runs logs \($0.id), and taskhost runs list --identifier \(identifier)" } ?? "fix its handler",
      since: failingSince)
  }
}

extension HandlerOverview {
  /// Nil if the plugin gets runs.
  fileprivate func problem(of identifier: String, now: WallTime) -> Problem? {
    let last = health.lastTrouble.map { ": \($0)" } ?? ""
    if let since = health.quarantinedSince {
      return Problem(
        .quarantined, of: identifier, "the plugin \(identifier) is quarantined\(last)",
        remedy: "fix the plugin, then taskhost plugins release \(identifier)", since: since)
    }
    if let suspension {
      return Problem(
        .suspended, of: identifier, "the plugin \(identifier) is suspended: \(suspension)",
        remedy: "restart the host if the thread does not come back, and use isolation = \"process\"")
    }
    guard health.isHeld(at: now) else { return nil }
    let count = health.failures == 1 ? "1 crash or forced stop" : "\(health.failures) crashes or forced stops"
    return Problem(
      .held, of: identifier, "the plugin \(identifier) is held back after \(count)\(last)",
      remedy: "it gets runs again by itself; taskhost plugins release \(identifier) gives it runs now", needsAction: false)
  }
}
