import StoreTestSupport
import TaskModel

extension Walk {
  /// A request with some of everything that one may have.
  func draw(position: Int) -> TaskRequest {
    var request = TaskRequest(identifier: chance(40) ? ProofWorld.absent : pick(ProofWorld.identifiers), priority: number(-10..<11))
    if chance(2) { request.earliestBegin = host.now + .milliseconds(number(-1000..<30_000) * (chance(4) ? 100 : 1)) }
    if chance(3) { request.gates.conditions = pick([.network, .power, [.network, .idle], .storageNotLow, .all]) }
    if chance(4) { request.gates.onLostCondition = .finish }
    if chance(8) { request.gates.window = pick(["night", "weekend"]) }
    if chance(4) { request.gates.concurrencyKey = pick(["x", "y"]) }
    if chance(5) { request.gates.resources = pick([["gpu": 1], ["gpu": 2], ["gpu": 1, "licence": 1]]) }
    if chance(5) { request.gates.flex = .seconds(number(1..<120)) }
    if chance(4) { request.deadline = host.now + .seconds(number(40..<4000)) }
    if chance(3) { request.tags = [pick(["a", "b"])] }
    if chance(3) { request.clock = .boot }
    if chance(3) {
      request.uniqueKey = pick(["k", "l"])
      request.onConflict = pick([.keep, .replace, .update, .append])
      if chance(5) { request.uniqueWindow = .seconds(number(1..<600)) }
    }
    if chance(20) { request.idempotencyKey = pick(["once", "twice"]) }
    request.retry = RetryPolicy(
      attempts: 1 + number(0..<4), backoff: chance(2) ? .linear : .exponential, initial: .seconds(number(1..<200)), maximum: .seconds(3600))
    if chance(5) {
      if position > 0 { request.after = [Dependency(.position(number(0..<position)), onFailure: chance(3) ? .ignore : .fail)] }
      if chance(2), !ids.isEmpty { request.after.append(Dependency(.request(pick(ids)), onFailure: chance(3) ? .ignore : .fail)) }
    } else if chance(3) {
      repetition(of: &request)
    } else if chance(8) {
      request.event = EventTrigger(pick(["mail", "door"]), debounce: chance(2) ? .zero : .seconds(number(1..<60)))
      if chance(2) { request.repetition = RepeatRule(.event) }
    }
    return request
  }

  private func repetition(of request: inout TaskRequest) {
    let missed: MissedPolicy = pick([.latest, .latest, .skip, .all(limit: number(1..<4), spread: .seconds(number(0..<30)))])
    if chance(3) {
      let cron = CronRule(
        pick(["*/20 * * * *", "30 2 * * *", "0 */6 * * *"]), timeZone: pick(["Europe/Berlin", "UTC"]),
        daylight: DaylightPolicy(gap: pick(DaylightPolicy.Gap.allCases), repeated: pick(DaylightPolicy.Repeated.allCases)))
      request.repetition = RepeatRule(.cron(cron), missed: missed)
    } else {
      request.repetition = RepeatRule(.every(.seconds(number(60..<1800))), missed: missed)
    }
  }
}
