import HostThreads
import StoreTestSupport
import TaskModel
import TaskScheduler
import Testing
import WorkerLink

@testable import HostControl
@testable import TaskHost

/// Well-formed messages, submissions and files with the most extreme values there are go the whole way: what reads them, the scheduler, the
/// store, what explains and foresees, and the next start. A trap anywhere ends the test process.
@Suite("Extreme values") struct ExtremeValueTests {
  private static let rounds = 400
  private static let identifier = TaskIdentifier.sample()

  @Test("a worker's submissions neither end the host nor keep it from starting again", arguments: [1, 2, 3] as [UInt64])
  func link(_ seed: UInt64) async throws {
    var extremes = Extremes(seed: seed)
    let host = try ExtremeHost()
    let run = RunID(sequence: 1, origin: 1)
    var (decoded, accepted) = (0, 0)
    for round in 0..<Self.rounds {
      let message = WorkerMessage.call(number: UInt64(round), .submit(run, extremes.nearlyTame(Self.identifier))).encode().bytes
      let bytes = extremes.once(in: 2) ? extremes.deface(message) : message
      guard case .call(_, .submit(_, let request))? = try? WorkerMessage(decoding: ReceivedMessage(bytes: bytes)) else { continue }
      decoded += 1
      if case .success = await host.submit([request]) { accepted += 1 }
    }
    #expect(decoded > 20 && accepted > 5, "\(decoded) decoded, \(accepted) accepted")
    try await host.lookAround()
    try host.restart()
    try await host.lookAround()
  }

  @Test("the time that a forged submission names is refused where it arrives", arguments: [.min, -1, 253_402_300_800_000, .max] as [Int64])
  func forgedTime(_ milliseconds: Int64) {
    let request = TaskRequest(identifier: Self.identifier, earliestBegin: WallTime(unixMilliseconds: milliseconds))
    let message = WorkerMessage.call(number: 0, .submit(RunID(sequence: 1, origin: 1), request)).encode().bytes
    #expect(throws: LinkError.malformed(what: "earliest_begin: lies outside of the years 1970 to 9999")) {
      try WorkerMessage(decoding: ReceivedMessage(bytes: message))
    }
  }

  @Test("a worker's endings neither end the host nor keep it from starting again", arguments: [4, 5] as [UInt64])
  func endings(_ seed: UInt64) async throws {
    var extremes = Extremes(seed: seed)
    let host = try ExtremeHost()
    for _ in 0..<100 {
      let retry = RetryPolicy(attempts: Limits.attempts.upperBound, initial: Limits.retryDelays.lowerBound)
      await host.submit([TaskRequest(identifier: Self.identifier, retry: retry)])
      for run in await host.liveRuns() {
        // As the link's decoder gives it, before the host looks at what can be true.
        let ending = WireEnding(run: run, ending: .returned(.success, stop: nil), report: extremes.report())
        let bytes = extremes.deface(WorkerMessage.ended([ending]).encode().bytes)
        let told = (try? WorkerMessage(decoding: ReceivedMessage(bytes: bytes))) ?? .ended([ending])
        guard case .ended(let endings) = told, let one = endings.first else { continue }
        await host.end(run, extremes.ending(), one.report)
      }
    }
    try await host.lookAround()
    try host.restart()
    try await host.lookAround()
  }

  @Test("submissions by HTTP neither end the host nor keep it from starting again", arguments: [6, 7] as [UInt64])
  func http(_ seed: UInt64) async throws {
    var extremes = Extremes(seed: seed)
    let host = try ExtremeHost()
    let now = SystemClock().wallTime
    var accepted: [RequestID] = []
    for _ in 0..<Self.rounds {
      let text = SubmissionText(&extremes).text
      guard let requests = try? SubmissionReader.read(Array(text.utf8)).requests else { continue }
      if case .success(let submissions) = await host.submit(requests) { accepted += submissions.map(\.id) }
    }
    #expect(accepted.count > 20, "\(accepted.count) accepted")
    for id in accepted.prefix(100) {
      let text = "{\"delay_ms\": \(extremes.number())}"
      if let delay = try? SchedulingReader.delay(in: Array(text.utf8)) { await host.snooze(id, until: now + delay) }
    }
    try await host.lookAround()
    try host.restart()
    try await host.lookAround()
  }

  @Test("a configuration with any number in any place is refused or works", arguments: [8, 9] as [UInt64])
  func configuration(_ seed: UInt64) async throws {
    var extremes = Extremes(seed: seed)
    var read = 0
    for _ in 0..<Self.rounds {
      guard let configuration = try? HostConfiguration.parse(ConfigurationText(&extremes).text, file: "/etc/taskhost/taskhost.toml") else {
        continue
      }
      read += 1
      guard read <= 12 else { continue }
      let host = try ExtremeHost(policy: configuration.schedulingPolicy(), schedules: configuration.scheduledRequests())
      await host.submit([TaskRequest(identifier: Self.identifier)])
      for run in await host.liveRuns() { await host.end(run, extremes.ending(), RunReport()) }
      try await host.lookAround()
      try host.restart()
    }
    #expect(read > 5, "\(read) read")
  }

  @Test("a store that says anything is opened, explained, foreseen and worked off", arguments: [10, 11, 12] as [UInt64])
  func stored(_ seed: UInt64) async throws {
    var extremes = Extremes(seed: seed)
    let host = try ExtremeHost { transaction, origin in
      try transaction.setClockReference(ClockReference(boot: "b", offset: extremes.number()))
      for sequence in 1...60 {
        try transaction.insert(extremes.record(RequestID(sequence: Int64(sequence) << 12, origin: origin), Self.identifier))
      }
      var health = PluginHealth()
      health.failures = Int(clamping: extremes.number())
      health.heldUntil = extremes.time()
      try transaction.setHealth(health, of: .sample("org.example.other"))
    }
    for _ in 0..<20 {
      for run in await host.liveRuns() { await host.end(run, extremes.ending(), extremes.report()) }
    }
    await host.clockChanged(ClockReference(boot: "b", offset: extremes.number()))
    try await host.lookAround()
    try host.restart()
    try await host.lookAround()
  }
}

extension Extremes {
  /// A pending request as no host would write it.
  mutating func record(_ id: RequestID, _ identifier: TaskIdentifier) -> RequestRecord {
    var request = request(identifier)
    // Keys are unique in the table.
    request.uniqueKey = nil
    request.retry = request.retry ?? RetryPolicy()
    request.gates.conditions = []
    return RequestRecord(
      id: id, request: request, state: .pending, due: time(), occurrence: request.repetition.map { _ in time() }, submitted: time(),
      attemptsSpent: Int(clamping: number()), losses: Int(clamping: number()), started: maybe { $0.time() },
      lastOutcome: once(in: 2) ? .retried : nil, eventDue: maybe { $0.time() }, eventSince: maybe { $0.time() },
      missedLeft: Int(clamping: number()))
  }
}
