import HostThreads
import PluginRuntime
import TaskModel

extension ConformanceRun {
  private static let unavailable = CallFailure(.unavailable, "the store is full")
  private static let noDurableCalls = "the handler uses neither state nor checkpoints"

  func playStore() throws(End) -> String {
    try launch()
    switch order.tried {
    case .storeUnavailable:
      services.script.withLock { $0.fault = { _ in Self.unavailable } }
      services.script.withLock { $0.submitFault = Self.unavailable }
    case .storeLimit: services.script.withLock { $0.fault = { $0 ? CallFailure(.limit, "the identifier has 64 MiB of state") : nil } }
    case .storeTooBig: services.script.withLock { $0.fault = { _ in CallFailure(.tooBig, "the value is too big") } }
    default:
      let dice = Guarded(random)
      services.script.withLock { $0.fault = { _ in dice.withLock { Int.random(in: 0..<3, using: &$0) } == 0 ? Self.unavailable : nil } }
    }
    performAll(Array(repeating: plan(budget: .milliseconds(500)), count: order.tried == .storeFlaky ? 20 : 3), called: "run")
    guard services.script.withLock({ $0.durableCalls }) > 0 else { throw .skipped(Self.noDurableCalls) }
    return seen
  }

  /// Values that a handler may find although this version of it did not write them.
  private func foreignValues() -> [[UInt8]] {
    [[], random.bytes(1), random.bytes(4096), Array("{\"version\": 99}".utf8), random.bytes(Limits.stateValueBytes)]
  }

  func playStateForeign() throws(End) -> String {
    try launch()
    let values = foreignValues()
    for (number, value) in values.enumerated() {
      reporter.at("a run whose state is \(value.count) bytes that it did not write, \(number + 1) of \(values.count)")
      services.clear()
      services.script.withLock { $0.foreignState = value }
      perform(plan())
    }
    guard CallWatch.shared.count(of: "state_get") > 0 else { throw .skipped("the handler reads no state") }
    return seen
  }

  func playCheckpointForeign() throws(End) -> String {
    try launch()
    let values = foreignValues()
    for (number, value) in values.enumerated() {
      reporter.at("a run whose checkpoint is \(value.count) bytes that it did not write, \(number + 1) of \(values.count)")
      var plan = plan()
      let request = newRequest()
      plan.request = request
      plan.attempt = 2
      services.script.withLock { $0.checkpoints[request] = value }
      perform(plan)
    }
    guard CallWatch.shared.count(of: "checkpoint_get") > 0 else { throw .skipped("the handler reads no checkpoint") }
    return seen
  }

  func playSubmitRefused() throws(End) -> String {
    try launch()
    let failures: [CallFailure] = [
      CallFailure(.notPermitted, "not in may_submit"), CallFailure(.limit, "too many requests are pending"), Self.unavailable,
      CallFailure(.unsupported, "not offered"), CallFailure(.notFound, "no such request"),
    ]
    for failure in failures {
      reporter.at("a run whose submissions are refused: \(failure.message)")
      services.script.withLock { $0.submitFault = failure }
      perform(plan(budget: .milliseconds(500)))
    }
    guard services.script.withLock({ $0.submissions }) > 0 else { throw .skipped("the handler submits and cancels nothing") }
    return seen
  }
}
