import HostThreads
import PluginRuntime
import TaskModel

extension ConformanceRun {
  func playExpireBefore() throws(End) -> String {
    try launch()
    for round in 1...3 {
      reporter.at("a run that had expired before its handler began, \(round) of 3")
      // The host allows one run at a time, so the second waits while it is asked to stop.
      let runs = start([plan(), plan()])
      for run in runs.reversed() { expire(run, .cancelled) }
      for run in runs { finish(run) }
      checkReturns()
    }
    checkMarks(after: "a run")
    return seen
  }

  func playExpireAtOnce() throws(End) -> String {
    try launch()
    expireRuns(12, called: "a run that expired as its handler began") { .microseconds(Int64.random(in: 0...500, using: &self.random)) }
    return seen
  }

  func playExpireInRun() throws(End) -> String {
    try launch()
    let time = typicalTime()
    expireRuns(10, called: "a run that expired in the middle") { self.random.part(of: time) }
    return seen
  }

  func playExpireAtReturn() throws(End) -> String {
    try launch()
    let time = typicalTime()
    let jitter = max(Duration.microseconds(100), time / 20)
    expireRuns(time < .milliseconds(20) ? 60 : 8, called: "a run that expired as it returned") {
      max(.zero, time - jitter) + self.random.part(of: jitter * 2)
    }
    return seen
  }

  func playExpireReasons() throws(End) -> String {
    try launch()
    for reason in StopReason.allCases {
      reporter.at("a run that is stopped because of: \(reason.rawValue)")
      guard let run = start([plan()]).first else { break }
      Pause.wait(random.part(of: .milliseconds(10)))
      expire(run, reason)
      // A second request to stop changes nothing.
      expire(run, .draining)
      finish(run)
      checkReturns()
    }
    checkMarks(after: "a run")
    return seen
  }

  func playExpireBudget() throws(End) -> String {
    try launch()
    let budgets: [Duration] = [.zero, .milliseconds(1), .milliseconds(20), .milliseconds(100)]
    performAll(budgets.map { plan(budget: $0) }, called: "a run whose budget is spent,")
    return seen
  }

  func playExpireInGrace() throws(End) -> String {
    try launch()
    let ledger = ledger
    let time = typicalTime()
    services.script.withLock { $0.delay = (min(grace * 6 / 10, .seconds(1)), { ledger.isExpired($0.run) }) }
    expireRuns(5, called: "a run with a late answer in its grace") { self.random.part(of: time) }
    let delayed = services.script.withLock({ $0.delayed })
    guard delayed > 0 else { throw .skipped("the handler makes no durable call once it has expired") }
    return "\(delayed) calls answered late; \(seen)"
  }

  /// Performs up to `count` runs, one after the other. Each expires the time `moment` after its start.
  private func expireRuns(_ count: Int, called name: String, at moment: () -> Duration) {
    let end = SystemClock.now + Self.patience
    for number in 1...count where SystemClock.now < end {
      reporter.at("\(name), \(number) of \(count)")
      guard let run = start([plan(budget: .seconds(2))]).first else { break }
      Pause.wait(moment())
      expire(run, .cancelled)
      finish(run)
      checkReturns()
    }
    checkMarks(after: "a run")
  }
}
