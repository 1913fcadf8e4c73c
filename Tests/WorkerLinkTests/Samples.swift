import TaskModel
import WorkerLink

/// Messages of every kind, with values at and between their limits.
enum Samples {
  static let run = RunID(sequence: 0x0FFF_FFFF_FFFF_FFFF, origin: 0x3FFF_FFFF_FFFF_FFFF)
  static let otherRun = RunID(sequence: 0, origin: 0)
  static let request = RequestID(sequence: 0x019A_0000_0000_1001, origin: 42)
  static let identifier = named("org.example.refresh")
  static let longIdentifier = named(String(repeating: "a", count: 128))
  static let trace: TraceParent = {
    guard let trace = TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01") else { preconditionFailure("no traceparent") }
    return trace
  }()
  static let farAway = Duration.nanoseconds(Int64.max)

  /// An identifier that a test spells; the fallback is never met.
  static func named(_ text: String) -> TaskIdentifier {
    guard let identifier = try? TaskIdentifier(text) else { preconditionFailure("\(text) is not an identifier") }
    return identifier
  }

  static let requests: [TaskRequest] = [
    TaskRequest(identifier: identifier),
    TaskRequest(
      identifier: longIdentifier, payload: [0, 1, 255], earliestBegin: WallTime.calendar.upperBound, conditions: .all,
      uniqueKey: "clé", onConflict: .replace),
    TaskRequest(identifier: identifier, earliestBegin: WallTime.calendar.lowerBound, uniqueKey: "k", onConflict: .append),
    paced, whole, cron, onEvent, onChange,
  ]

  /// Everything that a plugin can say which fits together.
  private static let whole: TaskRequest = {
    var request = TaskRequest(
      identifier: identifier, priority: Limits.priorities.lowerBound, uniqueKey: "k", onConflict: .update,
      retry: RetryPolicy(attempts: 1000, backoff: .linear, initial: .milliseconds(100), maximum: .seconds(30 * 86_400)),
      tags: ["clé", String(repeating: "t", count: Limits.keyBytes)], deadline: WallTime.calendar.upperBound,
      after: [Dependency(.request(Samples.request)), Dependency(.request(RequestID(sequence: 1, origin: 1)), onFailure: .ignore)],
      idempotencyKey: "i", uniqueWindow: Limits.longestDuration)
    request.delay = .milliseconds(1)
    request.gates = RunConstraints(
      conditions: .all, onLostCondition: .finish, window: "night", concurrencyKey: "c", resources: ["gpu": 1, "disk": 1_000_000],
      flex: Limits.longestDuration)
    request.onLostCondition = .finish
    request.jitter = .seconds(7)
    request.gates.wakes = true
    request.gates.prefer = "eu-west"
    request.traceparent = trace
    return request
  }()

  private static let cron = TaskRequest(
    identifier: identifier,
    repetition: RepeatRule(
      .cron(CronRule("@daily", timeZone: "", daylight: DaylightPolicy(gap: .skip, repeated: .both))),
      missed: .all(limit: 10_000, spread: .zero)))

  private static let onEvent = TaskRequest(
    identifier: identifier, repetition: RepeatRule(.event), event: EventTrigger("push", debounce: .seconds(1)))

  private static let onChange = TaskRequest(
    identifier: identifier, event: EventTrigger(EventTrigger.filePrefix + "/srv/clé", debounce: .milliseconds(1)))

  private static let paced: TaskRequest = {
    var request = TaskRequest(identifier: identifier)
    request.isPaced = true
    return request
  }()

  static let changes: [LaunchChange] =
    requests.map { .submit($0) } + [.cancel([identifier]), .cancel([longIdentifier, identifier])]

  static let pages: [PendingPage] = [
    PendingPage(), PendingPage(next: request),
    PendingPage(
      requests: [
        PendingRequest(id: request, identifier: identifier, nextStart: WallTime(unixMilliseconds: 0)),
        PendingRequest(
          id: RequestID(sequence: 0x0FFF_FFFF_FFFF_FFFF, origin: 0x3FFF_FFFF_FFFF_FFFF), identifier: longIdentifier, conditions: .all,
          earliestBegin: WallTime(unixMilliseconds: .max), nextStart: WallTime(unixMilliseconds: .min), attempt: .max,
          payload: [0, 255, 1]),
      ], next: request),
  ]

  static let host: [HostMessage] =
    boots.map(HostMessage.boot)
    + [
      .contracts([]),
      .contracts([
        HandlerContract(identifier: identifier, kind: .refresh, budget: .seconds(30), grace: .seconds(5)),
        HandlerContract(
          identifier: longIdentifier, kind: .continued, budget: nil, grace: farAway, maxConcurrentRuns: Limits.concurrentRuns,
          displayName: "Räumt auf", version: "1.0", typed: TypedContract(signature: "i32(str ä)", success: .nonzero)),
      ]),
      .start([]),
      .start([
        WireOrder(run: run, request: request, identifier: identifier, attempt: 1, payload: []),
        WireOrder(run: otherRun, request: request, identifier: longIdentifier, attempt: .max, payload: [0, 255, 1], arguments: [1, 0]),
        WireOrder(
          run: run, request: request, identifier: identifier, attempt: 3, payload: [1], tellsBegin: true,
          notBefore: MonotonicTime(nanoseconds: 7)),
        WireOrder(run: otherRun, request: request, identifier: identifier, attempt: 2, payload: [], arguments: []),
        WireOrder(
          run: run, request: request, identifier: identifier, attempt: 2, payload: [], trace: RunTrace(current: trace, link: trace)),
        WireOrder(run: run, request: request, identifier: identifier, attempt: 1, payload: [], trace: RunTrace(current: trace, link: nil)),
        WireOrder(run: run, request: request, identifier: identifier, attempt: 1, payload: [], fencingToken: .max),
      ]),
      .shutdown,
      .lease(until: 1),
      .lease(until: .max),
      .suspendBudgets(true),
      .suspendBudgets(false),
      .withdraw([]),
      .withdraw([run, otherRun]),
    ] + StopReason.allCases.map { .expire(run, $0) } + answers.map { .answer(number: .max, $0) }

  static let boots: [WorkerBoot] = [
    WorkerBoot(host: 1, confinement: Confinement(plugin: "/p"), launchBudget: .zero),
    WorkerBoot(
      version: .max, host: .max,
      confinement: Confinement(
        plugin: "/srv/plugins/Räumung.so", dataDirectory: "/var/lib/x", libraryDirectories: ["/usr/lib/a", "/b"], memory: .max,
        processes: 0,
        descriptors: 7, read: ["/etc/hosts"], write: ["/tmp/x", "/tmp/y"], network: .ports([0, 443, 65535]), exec: true,
        opened: ["/etc/hosts": 5, "/tmp/x": .max], absentRead: ["/gone"], absentWrite: ["/not/yet", "/never"],
        reserved: [ReservedPath("/var/lib/taskhost", refusals: .everything), ReservedPath("/etc/keys", refusals: .writeAbove)]),
      identifier: identifier, handlerLimit: LinkFormat.registrations, launchBudget: farAway, landlockLimit: 3),
    WorkerBoot(
      host: 3, confinement: Confinement(plugin: "/usr/lib/libz.so.1"), identifier: identifier,
      adoption: LibraryAdoption(
        identifier: identifier, kind: .processing, symbol: "crc32",
        typed: TypedContract(signature: String(repeating: "s", count: Limits.signatureBytes), success: .any)),
      launchBudget: .seconds(5)),
    WorkerBoot(host: 2, confinement: Confinement(plugin: "/p", network: .connect), launchBudget: .milliseconds(1), landlockLimit: 0),
  ]

  static let answers: [CallAnswer] =
    [
      .done, .bytes(nil), .bytes([]), .bytes([1, 2, 3]), .text(""), .text("{\"a\":\"ü\"}"),
      .submission(Submission(id: request, disposition: .created, nextStart: WallTime(unixMilliseconds: 0))), .count(0), .count(.max),
      .page(AnswerPage()), .page(AnswerPage(texts: [[], [0x7B, 0x7D], [0xFF, 0]], next: request.description)),
      .assertion(AssertionID(sequence: 0x0FFF_FFFF_FFFF_FFFF, origin: 0x3FFF_FFFF_FFFF_FFFF)),
    ] + pages.map { .pending($0) }
    + Disposition.allCases.map {
      .submission(Submission(id: request, disposition: $0, nextStart: WallTime(unixMilliseconds: -1), notes: ["parked", "raised"]))
    } + statuses.map { .failure(CallFailure($0, "no \($0)")) }

  static let statuses: [CallFailure.Status] = (-12 ... -1).compactMap(CallFailure.Status.init(rawValue:))

  static let worker: [WorkerMessage] =
    [
      .confined(missing: []), .confined(missing: ["Landlock is too old", ""]), .launched(LaunchReport(registrations: [])),
      .launched(
        LaunchReport(
          registrations: TaskKind.allCases.map {
            HandlerRegistration(
              identifier: identifier, kind: $0, budget: .milliseconds(1500), maxConcurrentRuns: Limits.concurrentRuns, displayName: "Name",
              version: "", typed: TypedContract(signature: "void()", success: .zero))
          }, changes: changes, hasShutdownHook: true, askedTooEarly: true)),
      .progress(run, RunProgress(completed: .max, total: 0)), .progress(run, RunProgress(completed: 3, total: 3)), .dropped(lines: .max),
      .progress(run, RunProgress(completed: 0, total: 0, unit: "ünits", message: "")), .work(run, RunWork()), .work(otherRun, fullWork),
      .stuck(run, thread: "refresh", stack: "frame 1\nframe 2"), .withdrawn(run), .began(otherRun), .shortage(longIdentifier, "no threads"),
      .stopped(threadsLeft: 0), .stopped(threadsLeft: .max), .ended([]),
      .ended(Array(endings.prefix(3))),
    ] + endings.map { .ended([$0]) } + steps.map { .refused(LaunchFailure(step: $0, observed: "it said \($0)")) }
    + StopReason.allCases.map { .expired(run, $0) }
    + ConflictPolicy.allCases.map { .call(number: 0, .submit(run, TaskRequest(identifier: identifier, uniqueKey: "k", onConflict: $0))) }
    + lines.flatMap { [.launchLog($0), .log(run, $0), .log(nil, $0)] } + calls.map { .call(number: 7, $0) }

  static let steps: [LaunchFailure.Step] = [
    .load, .crashed, .timeout, .status, .registration, .note, .registeredTwice, .identifierTaken, .notPermitted,
  ]

  static let lines: [LogLine] = LogLine.Level.allCases.map {
    LogLine(time: WallTime(unixMilliseconds: 1), level: $0, message: "line ünd \($0)")
  }

  static let calls: [WorkerCall] = [
    .admit(identifier), .settings(identifier), .dataDirectory(longIdentifier), .admitRequest(requests[1], from: identifier),
    .state(run, key: "k"), .setState(run, key: "schlüssel", value: nil),
    .setState(run, key: "k", value: []), .setState(run, key: "k", value: [9, 8, 7]), .checkpoint(run), .setCheckpoint(run, nil),
    .setCheckpoint(run, [1]), .submit(run, requests[2]), .cancel(run, request),
    .launchPending([], after: nil), .launchPending([identifier, longIdentifier], after: request), .pending(run, after: nil),
    .pending(run, after: request), .cancelPending(run, of: nil), .cancelPending(run, of: longIdentifier),
    .ask(run, .requests(of: identifier, after: nil)), .ask(run, .requests(of: longIdentifier, after: request)),
    .ask(run, .request(request)), .ask(run, .explanation(of: request)), .ask(run, .conditions),
    .ask(run, .runs(of: identifier, after: otherRun)), .ask(otherRun, .lastSuccess(of: longIdentifier)),
    .snooze(run, request, for: .zero), .snooze(run, request, for: farAway), .update(run, request, with: requests[1]),
    .notify(run, event: "e", payload: nil), .notify(run, event: String(repeating: "é", count: Limits.keyBytes / 2), payload: []),
    .notify(run, event: "org.example.refresh.done", payload: [0, 255]),
    .resourceTokens("gpu"), .beginAssertion(run, name: "n", reason: nil, length: .milliseconds(1)),
    .beginAssertion(otherRun, name: "ünits", reason: "wörk", length: .seconds(600)),
    .endAssertion(run, AssertionID(sequence: 1, origin: 0)),
    .openFiles(run, in: "/var/log", []),
    .openFiles(
      run, in: "/ü", [FileQuestion(device: 0, inode: .max, path: [0xFF, 0x2F]), FileQuestion(device: .max, inode: 1, path: [1])]),
  ]

  static let endings: [WireEnding] =
    [.success, .noop, .snooze, .retry, .failure, .outOfRange(.min), .outOfRange(99)].map {
      WireEnding(run: run, ending: .returned($0, stop: nil), report: RunReport())
    }
    + StopReason.allCases.flatMap { reason in
      [
        WireEnding(run: otherRun, ending: .returned(.retry, stop: reason), report: fullReport(reason, .asked)),
        WireEnding(run: run, ending: .forced(reason), report: fullReport(reason, .killed)),
      ]
    } + [WireEnding(run: run, ending: .forced(.budget), report: fullReport(.budget, .abandoned))]

  static let fullWork = RunWork(itemsAttempted: .max, itemsCompleted: 1, itemsFailed: 2, bytesIn: .max, bytesOut: 3)

  /// A report with every field that travels.
  static func fullReport(_ reason: StopReason, _ stage: StopStage) -> RunReport {
    var report = RunReport()
    report.stopReason = reason
    report.forced = stage != .asked
    report.stopStage = stage
    report.message = "it took too long: ü"
    report.output = [0, 1, 255]
    report.progress = RunProgress(completed: 1, total: 2, unit: "bytes", message: "copying ü")
    report.work = fullWork
    report.retryAfter = .milliseconds(1500)
    report.began = WallTime(unixMilliseconds: 1_760_000_000_000)
    report.handlerTime = .nanoseconds(1)
    report.cpuTime = farAway
    report.peakMemory = .max
    report.trouble = "signal 11\nframe"
    report.spans = [RunSpan(name: "copy ü", start: 0, end: .max, attributes: Array("{}".utf8), hasFailed: true)]
    return report
  }

  /// Every sample as it travels, those of both directions.
  static let encoded: [[UInt8]] = host.map { $0.encode().bytes } + worker.map { $0.encode().bytes }
}
