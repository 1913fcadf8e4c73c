import HostThreads
import PluginRuntime
import TaskModel

extension ConformanceRun {
  func playRun() throws(End) -> String {
    try launch()
    reporter.at("a run with the valid payload")
    guard let end = perform(plan(budget: .milliseconds(order.budget))) else { throw .skipped(seen) }
    if case .returned(.failure, _) = end.ending {
      reporter.warn(
        "the run with the valid payload failed: \(end.report.message ?? "no message")",
        "Give a payload that the handler accepts with --payload, and its settings with --settings, otherwise the later cases are skipped.")
    }
    let time = end.report.handlerTime?.wholeMilliseconds ?? 0
    return "\(seen) in \(max(1, time)) ms"
  }

  func playRunAgain() throws(End) -> String {
    try launch()
    let request = newRequest()
    var again = plan(budget: .seconds(1))
    again.request = request
    performAll(Array(repeating: again, count: 3), called: "the same request, run")
    return seen
  }

  func playAttempts() throws(End) -> String {
    try launch()
    let plans = [1, 2, 5, 1000, Int(UInt32.max)].map { attempt in
      var plan = plan()
      plan.attempt = attempt
      return plan
    }
    performAll(plans, called: "attempt")
    return seen
  }

  func playPayloads() throws(End) -> String {
    try launch()
    let payloads = makePayloads()
    performAll(payloads.map { Plan(payload: $0, budget: Self.shortBudget) }, called: "payload")
    return seen
  }

  private func makePayloads() -> [[UInt8]] {
    func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
    let limit = Limits.payloadBytes
    switch order.tried {
    case .payloadEmpty: return [[]]
    case .payloadObject:
      let deep = String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)
      return ["{}", "[]", "null", "0", "\"\"", "true", "{\"\": null}", "-1e999", "{\"a\": {\"b\": [1, 2.5, \"\\ud800\"]}}", deep].map(bytes)
    case .payloadNotJSON: return ["hello", "{", "%s%n%x", "\0", "{\"a\": }", "'; DROP TABLE", "../../etc/passwd", "\u{FEFF}{}"].map(bytes)
    case .payloadRandom: return (0..<24).map { _ in random.bytes(Int.random(in: 1...4096, using: &random)) }
    case .payloadLimit:
      let text = bytes("\"" + String(repeating: "x", count: limit - 2) + "\"")
      let array = bytes("[" + String(repeating: "0,", count: limit / 2 - 1) + "0")
      return [text, array, random.bytes(limit), [UInt8](repeating: 0, count: limit), [UInt8](repeating: UInt8(ascii: "["), count: limit)]
    default: return (0..<24).map { _ in damaged(order.payload) }
    }
  }

  /// The valid payload with bytes removed, changed, duplicated or inserted.
  private func damaged(_ payload: [UInt8]) -> [UInt8] {
    var bytes = payload.isEmpty ? Array("{}".utf8) : payload
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes.removeLast(bytes.count - place)
      case 1: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &random) }
      case 2: bytes.insert(contentsOf: random.bytes(Int.random(in: 1...8, using: &random)), at: place)
      default: bytes.insert(contentsOf: bytes[place...], at: place)
      }
    }
    return Array(bytes.prefix(Limits.payloadBytes))
  }

  func playClock(step: Duration) throws(End) -> String {
    try launch()
    services.script.withLock { $0.clockStep = step }
    performAll(Array(repeating: plan(), count: 4), called: "run")
    guard CallWatch.shared.count(of: "now_unix_ms") > 0 else { throw .skipped("the handler does not ask for the time") }
    return seen
  }

  func playConcurrent() throws(End) -> String {
    try launch(concurrency: nil)
    guard concurrency > 1 else { throw .skipped("max_concurrent_runs is 1") }
    let width = min(concurrency, 32)
    let end = SystemClock.now + Self.patience
    for round in 1...3 where SystemClock.now < end {
      reporter.at("round \(round) of \(width) runs at once")
      let runs = start(Array(repeating: plan(), count: width))
      Pause.wait(random.part(of: .milliseconds(20)))
      for (number, run) in runs.enumerated() where number % 3 == 0 { expire(run, .cancelled) }
      for run in runs { finish(run) }
      checkReturns()
    }
    checkMarks(after: "a run")
    return "\(width) at once; \(seen)"
  }
}
