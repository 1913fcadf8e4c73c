import FoundationEssentials
import TaskHostSDK
import TaskHostTesting
import TestSupport
import Testing

/// What decides in a host when a request runs decides it in a test host: it is the same code.
@Suite("Scheduling", .timeLimit(.minutes(10)))
struct SchedulingTests {
  private func hours(_ runs: [RunReport]) -> [Duration] { runs.map(\.started) }

  @Test("a periodic request runs at its interval, without drift")
  func periodic() async throws {
    let host = try TestHost.with { task in
      try await task.sleep(for: .seconds(100))
      return .success
    }
    var request = try TestRequest()
    request.repetition = .every(.seconds(3600))
    let id = try host.submit(request).id
    let runs = try await host.runDue(for: .seconds(4 * 3600))
    let first = try #require(runs.first?.started)
    #expect(hours(runs) == (0..<runs.count).map { first + .seconds(3600) * $0 })
    #expect(runs.count >= 4)
    #expect(runs.dropLast().allSatisfy { $0.outcome == .succeeded })
    #expect(host.elapsed == .seconds(4 * 3600))
    #expect(try host.request(id).runs.count >= 4)
  }

  @Test("an interval that is too short is raised as in a host, unless the options allow it")
  func interval() async throws {
    for (minimum, expected) in [(Duration.seconds(900), Duration.seconds(900)), (.seconds(60), .seconds(60))] {
      var options = TestHostOptions()
      options.minimumInterval = minimum
      let host = try TestHost.with(options: options) { _ in .success }
      var request = try TestRequest()
      request.repetition = .every(.seconds(60))
      try host.submit(request)
      let first = try #require(try await host.runNext())
      let second = try #require(try await host.runNext())
      #expect(second.started - first.started == expected)
    }
  }

  @Test("cron times come in their zone, over a change of the clocks")
  func cron() async throws {
    var options = TestHostOptions()
    // 2026-03-28 00:00 UTC; the clocks of Berlin are set forward in the night after.
    options.start = options.start.addingTimeInterval(86 * 86_400)
    let host = try TestHost.with(options: options) { _ in .success }
    var request = try TestRequest()
    request.repetition = .cron("0 6 * * *", timeZone: "Europe/Berlin")
    try host.submit(request)
    var runs: [RunReport] = []
    for _ in 1...3 { runs.append(try #require(try await host.runNext())) }
    #expect(hours(runs) == [.seconds(5 * 3600), .seconds((24 + 4) * 3600), .seconds((48 + 4) * 3600)])
  }

  @Test("what the host would refuse is refused with its sentence")
  func refused() throws {
    let host = try TestHost.with { _ in .success }
    var request = try TestRequest()
    request.repetition = .cron("0 25 * * *")
    let error = #expect(throws: TestHostError.self) { try host.submit(request) }
    #expect(error?.description.contains("25") == true, "\(error?.description ?? "")")
    request = try TestRequest()
    request.window = "night"
    #expect(throws: TestHostError.self) { try host.submit(request) }
    #expect(host.requests.isEmpty)
  }

  @Test("a request waits for its maintenance window")
  func window() async throws {
    var options = TestHostOptions()
    options.windows = ["night": TestWindow(from: "02:00", to: "04:00")]
    let host = try TestHost.with(options: options) { _ in .success }
    var request = try TestRequest()
    request.window = "night"
    let id = try host.submit(request).id
    #expect(try await host.runDue(for: .seconds(3600)).isEmpty)
    #expect(try host.request(id).state == .pending)
    #expect(try await host.runNext()?.started == .seconds(2 * 3600))
    try await host.advance(by: .seconds(3 * 3600))
    try host.submit(request)
    #expect(try await host.runNext()?.started == .seconds(26 * 3600))
  }

  @Test("an event wakes the requests that wait for it, once for a burst")
  func event() async throws {
    let host = try TestHost.with { _ in .success }
    var request = try TestRequest()
    request.event = "orders"
    request.debounce = .seconds(10)
    request.repetition = .event
    let id = try host.submit(request).id
    #expect(try await host.runNext() == nil)
    try await host.advance(by: .seconds(100))
    #expect(try host.post("orders") == 1)
    try await host.advance(by: .seconds(4))
    try host.post("orders", payload: Array("2".utf8))
    #expect(try host.post("others") == 0)
    let run = try #require(try await host.runNext())
    #expect(run.started == .seconds(114))
    #expect(run.payload == Array("2".utf8))
    #expect(try await host.runNext() == nil)
    #expect(try host.request(id).state == .pending)
  }

  @Test("a request runs after its predecessors, and fails with the first that does")
  func graph() async throws {
    let host = try TestHost.with { task in
      if task.payloadBytes == Array("fails".utf8) { return .failure }
      try await task.sleep(for: .seconds(10))
      return .success
    }
    let fetch = try host.submit(payload: Array("fetch".utf8))
    let broken = try host.submit(payload: Array("fails".utf8))
    var merge = try TestRequest(payload: Array("merge".utf8))
    merge.after = [.init(fetch.id), .init(broken.id, ignoresFailure: true)]
    let merged = try host.submit(merge)
    var strict = try TestRequest()
    strict.after = [.init(broken.id)]
    let doomed = try host.submit(strict)
    #expect(merged.state == .blocked)
    let runs = try await host.runDue(for: .seconds(60))
    #expect(runs.map { String(decoding: $0.payload, as: UTF8.self) } == ["fetch", "fails", "merge"])
    #expect(hours(runs) == [.zero, .zero, .seconds(10)])
    #expect(try host.request(merged.id).state == .succeeded)
    #expect(try host.request(doomed.id).state == .failed)
    #expect(try host.request(doomed.id).runs.isEmpty)
  }

  @Test("a rate and a quota of run time hold runs back")
  func limits() async throws {
    var options = TestHostOptions()
    var limits = TestLimits()
    limits.rate = "2/1m"
    options.limits = ["org.example.closure": limits]
    let host = try TestHost.with(options: options) { _ in .success }
    for _ in 1...4 { try host.submit() }
    let starts = hours(try await host.runDue(for: .seconds(300)))
    #expect(starts.count == 4)
    #expect(starts.prefix(2).allSatisfy { $0 == .zero })
    #expect(starts.dropFirst(2).allSatisfy { $0 >= .seconds(30) })

    limits.rate = nil
    limits.quota = "10m/1d"
    options.limits = ["org.example.closure": limits]
    let other = try TestHost.with(options: options) { task in
      try await task.sleep(for: .seconds(400))
      return .success
    }
    var runs: [RunReport] = []
    for _ in 1...3 {
      try other.submit()
      runs.append(try #require(try await other.runNext()))
    }
    #expect(hours(Array(runs.prefix(2))) == [.zero, .seconds(400)])
    #expect(runs[2].started > .seconds(3600))
  }

  @Test("on a phone that rests, requests wait for the maintenance windows, and run when the phone is used again")
  func idleStages() async throws {
    var options = TestHostOptions()
    options.profile = .phone
    let host = try TestHost.with(options: options) { _ in .success }
    try host.enter(.deepIdle)
    try host.submit()
    #expect(try await host.runNext()?.started == .seconds(3600))
    // The window is open for five minutes.
    try host.submit()
    #expect(try await host.runNext()?.started == .seconds(3600))
    try await host.advance(by: .seconds(300))
    try host.submit()
    #expect(try await host.runNext()?.started == .seconds(3900 + 7200))
    try await host.advance(by: .seconds(600))
    try host.submit()
    #expect(try await host.runDue(for: .seconds(60)).isEmpty)
    host.restore(.power)
    #expect(try await host.runNext()?.started == .seconds(3900 + 7200 + 600 + 60))

    let light = try TestHost.with(options: options) { _ in .success }
    try light.enter(.lightIdle)
    for _ in 1...2 { try light.submit() }
    #expect(hours(try await light.runDue(for: .seconds(3600))) == [.seconds(300), .seconds(300)])
    #expect(throws: TestHostError.self) { try TestHost.with { _ in .success }.enter(.deepIdle) }
  }

  @Test("a run asks whether so many bytes are worth transferring now")
  func transfers() async throws {
    let host = try TestHost.with { task in
      let obstacle = try task.transferObstacle(bytes: 50 << 20)
      try task.setOutput([obstacle?.rawValue ?? "none", "\(task.shouldTransfer(bytes: 50 << 20))"])
      return .success
    }
    var answers: [[String]] = []
    for lost in [[], .unmetered, .power, .batteryNotLow, .network] as [Conditions] {
      host.lose(lost)
      answers.append(try await host.run().output(as: [String].self))
      host.restore(lost)
    }
    #expect(answers == [["none", "true"], ["metered", "false"], ["none", "true"], ["lowBattery", "false"], ["noNetwork", "false"]])
  }

  @Test("a phone's limits hold a handler back that runs long")
  func profile() async throws {
    var options = TestHostOptions()
    options.profile = .phone
    let host = try TestHost.with(options: options) { task in
      try await task.sleep(for: .seconds(500))
      return .failure
    }
    var starts: [Duration] = []
    for _ in 1...7 {
      try host.submit()
      starts.append(try #require(try await host.runNext()).started)
    }
    // Twenty minutes an hour; after five failures ten minutes a day.
    #expect(starts.prefix(3) == [.zero, .seconds(500), .seconds(1000)])
    #expect(starts[3] > .seconds(3600) && starts[3] < .seconds(4300))
    #expect(starts[5] > .seconds(86_400), "\(starts)")
  }

  @Test("resources, and the number of runs at once, are shared as in a host")
  func resources() async throws {
    var options = TestHostOptions()
    options.resources = ["gpu": 1]
    options.maxConcurrentRuns = 3
    let host = try TestHost.with(options: options) { task in
      try await task.sleep(for: .seconds(60))
      return .success
    }
    var request = try TestRequest()
    request.resources = ["gpu": 1]
    for _ in 1...2 { try host.submit(request) }
    for _ in 1...3 { try host.submit() }
    let starts = hours(try await host.runDue(for: .seconds(300)))
    #expect(starts == [0, 0, 0, 60, 60].map { .seconds($0) })
  }

  @Test("a request waits until its conditions hold")
  func conditions() async throws {
    let host = try TestHost.with { _ in .success }
    host.lose(.network)
    try host.submit(conditions: .network)
    #expect(try await host.runDue(for: .seconds(600)).isEmpty)
    host.restore(.network)
    #expect(try await host.runNext()?.started == .seconds(600))
  }

  @Test("higher priority goes first")
  func priority() async throws {
    let host = try TestHost.with { _ in .success }
    for priority in [0, 5, -5] {
      var request = try TestRequest(payload: .json("\(priority)"))
      request.priority = priority
      try host.submit(request)
    }
    var order: [String] = []
    while let run = try await host.runNext() { order.append(String(decoding: run.payload, as: UTF8.self)) }
    #expect(order == ["5", "0", "-5"])
  }

  @Test("a typed handler is called with its arguments, and a payload that does not fit is refused")
  func typed() async throws {
    let host = try TestHost(plugin: CompiledPlugin.path("Plugins/typed"))
    let payload = #"{"account":"ann","horizon_s":3600,"ratio":0.5,"dry_run":true,"blob":"AAEC"}"#
    let run = try await host.run(payload: .json(payload))
    #expect(run.result == .success, "\(run)")
    #expect(
      run.output
        == Array(#"{"account":"ann","horizon_s":3600,"ratio":0.5,"dry_run":true,"length":3,"last":2}"#.utf8), "\(run)")
    let error = #expect(throws: TestHostError.self) { try host.submit(payload: ["account": 1]) }
    #expect(error?.description.contains("account") == true, "\(error?.description ?? "")")
  }

  @Test("a run whose request is cancelled ends cancelled, also where it is killed or stopped by force")
  func cancelled() async throws {
    let end = Event()
    let host = try TestHost.with(Refresh.self) { task in
      do { try await task.sleep(for: .seconds(100)) } catch { await end.wait() }
      return .success
    }
    defer { end.set() }
    let killed = try host.launch()
    try await host.advance(by: .seconds(1))
    killed.cancel()
    killed.kill()
    #expect(killed.report.ending == .killed)
    #expect(killed.report.outcome == .cancelled)
    #expect(try host.request(killed.requestID).state == .cancelled)

    let forced = try host.launch()
    try await host.advance(by: .seconds(1))
    try host.cancel(requestID: forced.requestID)
    #expect(forced.report.stopReason == .cancelled)
    forced.force()
    let report = try await forced.ended()
    #expect(report.ending == .forced)
    #expect(report.outcome == .cancelled)
    #expect(try host.request(forced.requestID).state == .cancelled)
  }
}
