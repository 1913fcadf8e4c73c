import TaskModel
import Testing
import WorkerLink

@Suite("Coding of link messages") struct CodingTests {
  @Test("a host's message decodes to what was encoded", arguments: Samples.host)
  func hostRoundTrip(_ message: HostMessage) throws {
    #expect(try HostMessage(decoding: ReceivedMessage(bytes: message.encode().bytes)) == message)
  }

  @Test("a worker's message decodes to what was encoded", arguments: Samples.worker)
  func workerRoundTrip(_ message: WorkerMessage) throws {
    #expect(try WorkerMessage(decoding: ReceivedMessage(bytes: message.encode().bytes)) == message)
  }

  @Test("values at their limits travel")
  func limits() throws {
    let payload = [UInt8](repeating: 7, count: Limits.payloadBytes)
    let value = [UInt8](repeating: 8, count: Limits.stateValueBytes)
    let order = WireOrder(run: Samples.run, request: Samples.request, identifier: Samples.identifier, attempt: 1, payload: payload)
    var report = RunReport()
    report.output = payload
    report.message = String(repeating: "m", count: Limits.logMessageBytes)
    report.trouble = String(repeating: "t", count: Limits.stackBytes)
    try expectRoundTrip(.start([order]))
    try expectRoundTrip(.answer(number: 0, .bytes(value)))
    try expectRoundTrip(.answer(number: 0, .text(String(repeating: "s", count: LinkFormat.settingsBytes))))
    try expectRoundTrip(.ended([WireEnding(run: Samples.run, ending: .forced(.budget), report: report)]))
    try expectRoundTrip(.call(number: 1, .setState(Samples.run, key: "k", value: value)))
    try expectRoundTrip(.call(number: 1, .setCheckpoint(Samples.run, value)))
    try expectRoundTrip(
      .launched(
        LaunchReport(
          registrations: (1...LinkFormat.registrations).map { HandlerRegistration(identifier: Samples.named("h\($0)"), kind: .refresh) },
          changes: Array(repeating: .submit(Samples.requests[0]), count: Limits.launchChanges))))
    try expectRoundTrip(.launched(LaunchReport(registrations: [], changes: [.cancel(identifiers(LinkFormat.registrations))])))
    try expectRoundTrip(.call(number: 1, .launchPending(identifiers(LinkFormat.registrations), after: Samples.request)))
    let small = PendingRequest(id: Samples.request, identifier: Samples.identifier, nextStart: WallTime(unixMilliseconds: 1))
    let pages = [
      PendingPage(requests: Array(repeating: small, count: PendingPage.requestLimit)),
      PendingPage(requests: Array(repeating: Self.large, count: PendingPage.payloadLimit / Limits.payloadBytes + 1), next: Samples.request),
    ]
    for page in pages { try expectRoundTrip(.answer(number: 0, .pending(page))) }
    let key = String(repeating: "k", count: Limits.keyBytes)
    var request = Samples.requests[0]
    request.payload = payload
    request.uniqueKey = key
    try expectRoundTrip(.call(number: 1, .submit(Samples.run, request)))
    try expectRoundTrip(.call(number: 1, .state(Samples.run, key: key)))
    let ending = WireEnding(run: Samples.run, ending: .returned(.success, stop: nil), report: RunReport())
    try expectRoundTrip(.ended(Array(repeating: ending, count: LinkFormat.batchCount)))
  }

  /// A pending request with the largest payload there is.
  private static let large = PendingRequest(
    id: Samples.request, identifier: Samples.longIdentifier, conditions: .all, earliestBegin: WallTime(unixMilliseconds: 1),
    nextStart: WallTime(unixMilliseconds: 1), payload: [UInt8](repeating: 7, count: Limits.payloadBytes))

  private func identifiers(_ count: Int) -> [TaskIdentifier] { (1...count).map { Samples.named("h\($0)") } }

  @Test("values beyond their limits are refused", arguments: excesses)
  func beyondLimits(_ bytes: [UInt8]) {
    #expect(Decoding(bytes).isRefused)
  }

  static let excesses: [[UInt8]] = {
    let payload = [UInt8](repeating: 7, count: Limits.payloadBytes + 1)
    let value = [UInt8](repeating: 8, count: Limits.stateValueBytes + 1)
    let order = WireOrder(run: Samples.run, request: Samples.request, identifier: Samples.identifier, attempt: 1, payload: payload)
    let unnumbered = WireOrder(run: Samples.run, request: Samples.request, identifier: Samples.identifier, attempt: 0, payload: [])
    var long = RunReport()
    long.output = payload
    var negative = RunReport()
    negative.peakMemory = -1
    let small = WireEnding(run: Samples.run, ending: .returned(.success, stop: nil), report: RunReport())
    let registration = HandlerRegistration(identifier: Samples.identifier, kind: .refresh)
    let request = TaskRequest(identifier: Samples.identifier)
    var (emptyKey, cutKey) = (request, request)
    emptyKey.uniqueKey = ""
    cutKey.uniqueKey = "a\0b"
    var (early, late) = (request, request)
    early.earliestBegin = WallTime(unixMilliseconds: .min)
    late.earliestBegin = WallTime(unixMilliseconds: .max)
    let timeless = LogLine(time: WallTime(unixMilliseconds: -1), level: .info, message: "")
    var began = RunReport()
    began.began = WallTime(unixMilliseconds: .max)
    var strange = request
    strange.conditions = Conditions(rawValue: 64)
    let many = (0...LinkFormat.registrations).map { Samples.named("h\($0)") }
    var (page, attempt) = (PendingPage(requests: [large]), PendingPage(requests: [large]))
    page.requests[0].payload.append(7)
    attempt.requests[0].attempt = 0
    var odd = PendingPage(requests: [large])
    odd.requests[0].conditions = Conditions(rawValue: 64)
    let pending = PendingRequest(id: Samples.request, identifier: Samples.identifier, nextStart: WallTime(unixMilliseconds: 1))
    let host: [HostMessage] = [
      .answer(number: 0, .pending(page)), .answer(number: 0, .pending(attempt)), .answer(number: 0, .pending(odd)),
      .answer(number: 0, .pending(PendingPage(requests: Array(repeating: pending, count: PendingPage.requestLimit + 1)))),
      .answer(number: 0, .count(-1)),
      .start([order]), .start([unnumbered]), .answer(number: 0, .bytes(value)),
      .answer(number: 0, .text(String(repeating: "s", count: LinkFormat.settingsBytes + 1))),
      .boot(WorkerBoot(host: 0, confinement: Confinement(plugin: "/p"), launchBudget: .zero)),
      .boot(WorkerBoot(host: 1, confinement: Confinement(plugin: ""), launchBudget: .zero)),
      .boot(WorkerBoot(host: 1, confinement: Confinement(plugin: "/p", memory: -1), launchBudget: .zero)),
      .boot(WorkerBoot(host: 1, confinement: Confinement(plugin: "/p", opened: ["/x": -1]), launchBudget: .zero)),
      .boot(WorkerBoot(host: 1, confinement: Confinement(plugin: "/p"), handlerLimit: 65, launchBudget: .zero)),
      .boot(
        WorkerBoot(
          host: 1, confinement: Confinement(plugin: "/p", reserved: [ReservedPath("/x", refusals: .init(rawValue: 64))]),
          launchBudget: .zero)),
      .boot(
        WorkerBoot(host: 1, confinement: Confinement(plugin: String(repeating: "p", count: LinkFormat.pathBytes + 1)), launchBudget: .zero)),
    ]
    let worker: [WorkerMessage] = [
      .ended([WireEnding(run: Samples.run, ending: .forced(.budget), report: long)]),
      .ended([WireEnding(run: Samples.run, ending: .forced(.budget), report: negative)]),
      .ended(Array(repeating: small, count: LinkFormat.batchCount + 1)),
      .launched(LaunchReport(registrations: Array(repeating: registration, count: LinkFormat.registrations + 1))),
      .launched(LaunchReport(registrations: [], changes: Array(repeating: .submit(request), count: Limits.launchChanges + 1))),
      .launched(
        LaunchReport(registrations: [HandlerRegistration(identifier: Samples.identifier, kind: .refresh, maxConcurrentRuns: 0)])),
      .launched(LaunchReport(registrations: [], changes: [.cancel([])])),
      .launched(LaunchReport(registrations: [], changes: [.cancel(many)])), .call(number: 0, .launchPending(many, after: nil)),
      .call(number: 0, .state(Samples.run, key: "")),
      .call(number: 0, .state(Samples.run, key: String(repeating: "k", count: Limits.keyBytes + 1))),
      .call(number: 0, .setState(Samples.run, key: "k", value: value)),
      .call(number: 0, .submit(Samples.run, emptyKey)), .call(number: 0, .submit(Samples.run, cutKey)),
      .call(number: 0, .submit(Samples.run, strange)), .stopped(threadsLeft: -1),
      .call(number: 0, .submit(Samples.run, early)), .call(number: 0, .submit(Samples.run, late)),
      .launchLog(timeless), .log(Samples.run, timeless),
      .ended([WireEnding(run: Samples.run, ending: .forced(.budget), report: began)]),
    ]
    return host.map { $0.encode().bytes } + worker.map { $0.encode().bytes }
  }()

  @Test("what only a host can judge is refused from a worker", arguments: [RunEnding.crashed, .lost])
  func hostsJudgement(_ ending: RunEnding) {
    let message = WorkerMessage.ended([WireEnding(run: Samples.run, ending: ending, report: RunReport())])
    #expect(Decoding(message.encode().bytes).isRefused)
  }

  @Test("a request travels with what a plugin can say of it; what is left to the host cannot be spelt")
  func requestOfAPlugin() {
    var request = TaskRequest(identifier: Samples.identifier)
    let plain = WorkerMessage.call(number: 0, .submit(Samples.run, request)).encode().bytes
    request.clock = .boot
    request.gates.isPastDeadline = true
    #expect(WorkerMessage.call(number: 0, .submit(Samples.run, request)).encode().bytes == plain)
    #expect(Decoding(plain + [0]).isRefused)
  }

  @Test(
    "a relative path to watch, a place in an array, and fields that contradict each other are refused from a worker",
    arguments: [
      TaskRequest(identifier: Samples.identifier, event: EventTrigger("file:etc/shadow")),
      TaskRequest(identifier: Samples.identifier, after: [Dependency(.position(0))]),
      TaskRequest(identifier: Samples.identifier, repetition: RepeatRule(.event)),
      TaskRequest(identifier: Samples.identifier, repetition: RepeatRule(every: .seconds(900)), event: EventTrigger("e")),
    ])
  func unspeakable(_ request: TaskRequest) {
    #expect(Decoding(WorkerMessage.call(number: 0, .submit(Samples.run, request)).encode().bytes).isRefused)
    #expect(Decoding(WorkerMessage.launched(LaunchReport(registrations: [], changes: [.submit(request)])).encode().bytes).isRefused)
  }

  @Test("log lines and the incident of a report do not travel")
  func linesStay() throws {
    var report = RunReport()
    report.log = Samples.lines
    report.incident = 7
    let message = WorkerMessage.ended([WireEnding(run: Samples.run, ending: .returned(.success, stop: nil), report: report)])
    try #expect(
      WorkerMessage(decoding: ReceivedMessage(bytes: message.encode().bytes))
        == .ended([WireEnding(run: Samples.run, ending: .returned(.success, stop: nil), report: RunReport())]))
  }

  @Test("a text for people is cut at a whole character, and then travels")
  func cut() throws {
    let text = String(repeating: "ä€", count: Limits.stackBytes)
    let message = WorkerMessage.stuck(Samples.run, thread: text, stack: text)
    let decoded = try WorkerMessage(decoding: ReceivedMessage(bytes: message.encode().bytes))
    guard case .stuck(Samples.run, let thread, let stack) = decoded else {
      Issue.record("decoded to another case")
      return
    }
    for (cut, limit) in [(thread, LinkFormat.nameBytes), (stack, Limits.stackBytes)] {
      let mark = " … (cut at \(limit) bytes)"
      #expect(cut.hasSuffix(mark))
      let kept = cut.dropLast(mark.count)
      #expect(text.hasPrefix(kept) && (limit - 2...limit).contains(kept.utf8.count))
    }
  }

  @Test("sentences beyond those of a list are dropped")
  func sentences() throws {
    let message = WorkerMessage.confined(missing: Array(repeating: "no", count: 1000))
    try #expect(
      WorkerMessage(decoding: ReceivedMessage(bytes: message.encode().bytes))
        == .confined(missing: Array(repeating: "no", count: LinkFormat.sentences)))
  }

  @Test("a negative duration travels as none, one beyond 292 years as that", arguments: [(-1, 0), (Int64.max / 2, Int64.max)])
  func durations(_ seconds: Int64, _ nanoseconds: Int64) throws {
    let contract = HandlerContract(identifier: Samples.identifier, kind: .refresh, budget: nil, grace: .seconds(seconds))
    var expected = contract
    expected.grace = .nanoseconds(nanoseconds)
    try #expect(HostMessage(decoding: ReceivedMessage(bytes: HostMessage.contracts([contract]).encode().bytes)) == .contracts([expected]))
  }

  @Test("a message of one direction is refused in the other")
  func directions() {
    for message in Samples.host {
      #expect(throws: LinkError.self) { try WorkerMessage(decoding: ReceivedMessage(bytes: message.encode().bytes)) }
    }
    for message in Samples.worker {
      #expect(throws: LinkError.self) { try HostMessage(decoding: ReceivedMessage(bytes: message.encode().bytes)) }
    }
  }

  @Test("another version is named")
  func version() {
    var bytes = HostMessage.shutdown.encode().bytes
    let other = UInt8(LinkFormat.version + 1)
    bytes[1] = other
    #expect(throws: LinkError.version(found: other)) { try HostMessage(decoding: ReceivedMessage(bytes: bytes)) }
  }

  @Test(
    "an error says what was seen and what to do",
    arguments: [.closed, .version(found: 9), .malformed(what: "x"), .tooBig(bytes: 5), .system(call: "poll", code: 4)] as [LinkError])
  func sentences(_ error: LinkError) {
    #expect(error.description.count > 40)
  }

  private func expectRoundTrip(_ message: HostMessage) throws {
    #expect(try HostMessage(decoding: ReceivedMessage(bytes: message.encode().bytes)) == message)
  }

  private func expectRoundTrip(_ message: WorkerMessage) throws {
    #expect(try WorkerMessage(decoding: ReceivedMessage(bytes: message.encode().bytes)) == message)
  }
}
