import TaskModel
import Testing

@testable import Dashboard

@Suite("Pages") struct PageTests {
  private static let now = WallTime(unixMilliseconds: 1_700_000_000_000)
  private static let identifier = try? TaskIdentifier("com.example.sync")

  private func request(_ sequence: Int64, after: [Int64] = [], state: RequestState = .pending) throws -> RequestRecord {
    var request = TaskRequest(identifier: try #require(Self.identifier))
    request.after = after.map { Dependency(.request(RequestID(sequence: $0, origin: 1))) }
    return RequestRecord(
      id: RequestID(sequence: sequence, origin: 1), request: request, state: state, due: Self.now, submitted: Self.now)
  }

  private func run(_ sequence: Int64, at start: WallTime, took: Duration, _ outcome: RunOutcome = .succeeded) throws -> RunRecord {
    var run = RunRecord(
      id: RunID(sequence: sequence, origin: 1), request: RequestID(sequence: 1, origin: 1), identifier: try #require(Self.identifier),
      attempt: 1, started: start, ended: start + took, outcome: outcome)
    run.report.handlerTime = took
    return run
  }

  private func html(_ page: Page) throws -> String { String(decoding: try PageRenderer().html(page), as: UTF8.self) }

  @Test("a name that a view lacks is absent, not that of the view around it")
  func closed() {
    let inner: View = ["a": "x", "empty": ""]
    #expect(inner.child(named: "a") as? String == "x")
    #expect(inner.child(named: "b") != nil && inner.child(named: "empty") != nil)
    let nothing: View = ["none": nil as String?, "list": [View]()]
    #expect(!(nothing.child(named: "none") is String) && !(nothing.child(named: "list") is [Any]))
  }

  @Test("markup in a plugin's words is escaped, whatever Unicode joins to its characters")
  func markup() throws {
    for words in ["\u{600}<img src=x onerror=alert(1)>", "\u{600}\" onclick=\"alert(1)", "\u{110BD}<script>x", "&\u{301}lt;"] {
      let status = HostStatus(
        version: "1", processID: 1, phase: .launched, started: Self.now, stateDirectory: "/s", requests: [:], running: 0,
        maxConcurrentRuns: 4, pluginsRegistered: 1, pluginsRefused: 0, nextDue: nil,
        problems: [Problem(.failing, of: "com.example.sync/nightly", words, remedy: words, since: Self.now)])
      let text = try html(OverviewPage.make(status, runs: [], plugins: [], next: [], waiting: [], reasons: [:], now: Self.now))
      let bytes = Array(text.utf8)
      for mark in ["<img", "<script>", "\" onclick", "&\u{301}"] { #expect(bytes.firstRange(of: Array(mark.utf8)) == nil, "\(words)") }
      #expect(text.contains("\\u{"))
    }
  }

  @Test("problems come first, with a way to the task")
  func problems() throws {
    let status = HostStatus(
      version: "1", processID: 1, phase: .launched, started: Self.now, stateDirectory: "/s", requests: [.pending: 2, .claimed: 1],
      running: 0, maxConcurrentRuns: 4, pluginsRegistered: 1, pluginsRefused: 0, nextDue: nil,
      problems: [
        Problem(.failing, of: "com.example.sync/nightly", "the last run failed", remedy: "look", since: Self.now),
        Problem(.quarantined, of: "com.example.sync", "it is quarantined", remedy: "release it"),
        Problem(.override, of: "power", "power is overridden", remedy: "clear it", needsAction: false),
      ])
    let text = try html(OverviewPage.make(status, runs: [], plugins: [], next: [], waiting: [], reasons: [:], now: Self.now))
    #expect(text.contains("2 problems need a person") && text.contains("card alarm"))
    #expect(text.contains("href=\"/ui/tasks/com.example.sync?key=nightly\""))
    #expect(text.contains("action=\"/ui/plugins/com.example.sync/release\""))
    #expect(text.contains("<strong>3</strong><a href=\"/ui/requests?filter=state%3Apending\">"))
    let problems = try #require(text.firstRange(of: "id=\"problems\""))
    let running = try #require(text.firstRange(of: "id=\"running\""))
    #expect(problems.lowerBound < running.lowerBound)
  }

  @Test("a run shows its progress and how its budget runs down")
  func live() throws {
    var run = try run(1, at: Self.now + .seconds(-40), took: .zero)
    (run.ended, run.outcome) = (nil, nil)
    run.report.progress = RunProgress(completed: 30, total: 120, unit: "files", message: "b.txt")
    let contract = HandlerContract(identifier: run.identifier, kind: .refresh, budget: .seconds(60), grace: .seconds(5))
    let plugin = PluginStatus(file: "a.so", health: .registered, contract: contract)
    let text = try html(RunPage.make(run, nil, plugins: [plugin], now: Self.now))
    #expect(text.contains("max=\"100\" value=\"25\"") && text.contains("30 of 120 files, 25 %, b.txt"))
    #expect(text.contains("max=\"60\" value=\"20\" data-ends=\"1700000020000\"") && text.contains("20s left of 1m"))
  }

  @Test("a graph has its predecessors before it, and the list names all")
  func graph() throws {
    let own = try request(4, after: [2, 3])
    let known = [try request(2, after: [1]), try request(3, after: [1]), try request(1, state: .running)]
    let text = try html(
      RequestPage.make(
        own, nil, runs: [], predecessors: Dictionary(uniqueKeysWithValues: known.map { ($0.id, $0) }), plugins: [], now: Self.now))
    #expect(text.ranges(of: "<rect").count == 4 && text.ranges(of: "<path d=\"M").count == 4)
    for record in known { #expect(text.contains("<span class=\"id\">\(record.id)</span>")) }
    let lost = try html(RequestPage.make(own, nil, runs: [], predecessors: [:], plugins: [], now: Self.now))
    #expect(lost.contains("no longer on record"))
  }

  @Test("a request that succeeded has the attempt of its last run")
  func attempts() throws {
    var record = try request(1, state: .succeeded)
    record.request.retry = RetryPolicy(attempts: 5)
    var last = try run(1, at: Self.now, took: .seconds(1))
    last.attempt = 3
    let text = try html(RequestPage.make(record, nil, runs: [last], predecessors: [:], plugins: [], now: Self.now))
    #expect(text.contains("<dt>Attempt</dt><dd class=\"foreign\">3 of 5</dd>"))
  }

  @Test("a large graph, and one in a circle, is drawn in part")
  func largeGraph() throws {
    var known: [RequestID: RequestRecord] = [:]
    for sequence in 1...200 as ClosedRange<Int64> {
      let record = try request(sequence, after: [sequence % 200 + 1, (sequence + 7) % 200 + 1])
      known[record.id] = record
    }
    let own = try #require(known[RequestID(sequence: 1, origin: 1)])
    let text = try html(RequestPage.make(own, nil, runs: [], predecessors: known, plugins: [], now: Self.now))
    #expect((2...PredecessorGraph.most).contains(text.ranges(of: "<rect").count))
  }

  @Test(
    "the next times follow the rule",
    arguments: [RepeatRule(every: .seconds(900)), RepeatRule(.cron(CronRule("*/15 * * * *", timeZone: "UTC")))])
  func times(_ rule: RepeatRule) throws {
    var record = try request(1)
    let due = WallTime(unixMilliseconds: 1_700_000_100_000)
    (record.request.repetition, record.due, record.occurrence) = (rule, due, due)
    let schedule = ScheduleRecord(identifier: record.request.identifier, request: record)
    let times = TaskActivity(schedule, nextStart: due).times(5, after: Self.now)
    #expect(times == (0..<5).map { due + .seconds(900) * $0 })
  }

  @Test("a plot has a bar for each run; a run that no schedule started has no lateness")
  func plot() throws {
    var record = try request(1)
    record.request.repetition = RepeatRule(every: .seconds(3600))
    record.occurrence = Self.now
    let runs = try (1...4 as ClosedRange<Int64>).map { (index: Int64) -> RunRecord in
      let late: Int64 = index == 4 ? 2400 : 2
      return try run(index, at: Self.now + .seconds(late - 3600 * index), took: .milliseconds(index * 250))
    }
    let schedule = ScheduleRecord(identifier: record.request.identifier, request: record, lastRun: runs[0], lastSuccess: Self.now)
    let text = try html(
      SchedulePages.one(TaskActivity(schedule, nextStart: Self.now), nil, runs: runs, next: nil, isFirst: true, now: Self.now))
    #expect(text.contains("The last 4 runs took 250ms to 1s, half of them at most 500ms."))
    #expect(text.contains("3 of them started at their scheduled time or later: 2s to 2s"))
    #expect(text.ranges(of: "<rect class=\"mark").count == 7)
  }

  @Test("a forecast has a lane for each task, and its marks stay within the day")
  func forecast() throws {
    let identifier = try #require(Self.identifier)
    let id = RequestID(sequence: 1, origin: 1)
    let day = Duration.seconds(86_400)
    let entries = [Duration.zero, day / 2, day].map {
      Forecast.Entry(at: Self.now + $0, identifier: identifier, request: id, duration: day)
    }
    let text = try html(ForecastPage.make(Forecast(from: Self.now, to: Self.now + day, entries: entries), now: Self.now))
    let marks = try text.matches(of: /<rect class="mark \w+" x="(\d+)" y="3" width="(\d+)"/).map {
      (try #require(Int($0.1)), try #require(Int($0.2)))
    }
    #expect(marks.map(\.0) == [0, 720, 1434] && marks.allSatisfy { $0.0 + $0.1 <= 1440 })
    #expect(text.contains("com.example.sync: 3 runs"))
  }

  @Test("the largest values of everything break no page")
  func extremes() throws {
    let far = [WallTime(unixMilliseconds: .max), WallTime(unixMilliseconds: .min), WallTime(unixMilliseconds: 0)]
    for time in far {
      var record = try request(.max, after: [.max])
      (record.due, record.submitted, record.started, record.ended, record.occurrence) = (time, time, time, time, time)
      record.request.repetition = RepeatRule(every: .milliseconds(Int64.max))
      record.request.deadline = time
      var run = try run(.max, at: time, took: .milliseconds(Int64.max))
      run.report.began = time
      run.report.progress = RunProgress(completed: .max, total: .max)
      run.report.work = RunWork(itemsAttempted: .max, itemsCompleted: .max, bytesIn: .max)
      run.report.peakMemory = .max
      var live = run
      (live.ended, live.outcome) = (nil, nil)
      let contract = HandlerContract(
        identifier: run.identifier, kind: .refresh, budget: .milliseconds(Int64.max), grace: .milliseconds(Int64.max),
        maxConcurrentRuns: .max)
      let plugin = PluginStatus(file: "a.so", health: .registered, contract: contract)
      var explanation = RequestExplanation(id: record.id, gates: [Gate(kind: "time", sentence: "x", since: time, until: time)])
      explanation.place = .max
      let task = TaskActivity(
        ScheduleRecord(identifier: run.identifier, request: record, lastRun: run, lastSuccess: time, failures: .max, failingSince: time),
        nextStart: time)
      for now in far {
        _ = try html(
          RequestPage.make(record, explanation, runs: [run, live, run], predecessors: [record.id: record], plugins: [plugin], now: now))
        _ = try html(RequestPage.gone(record.id, runs: [run], now: now))
        _ = try html(RunPage.make(live, record, plugins: [plugin], now: now))
        _ = try html(SchedulePages.one(task, plugin, runs: [run, run, live], next: run.id.description, isFirst: false, now: now))
        _ = try html(SchedulePages.list([task], now: now))
        let entry = Forecast.Entry(at: time, identifier: run.identifier, request: record.id, duration: .milliseconds(Int64.max))
        _ = try html(ForecastPage.make(Forecast(from: now, to: time, entries: [entry]), now: now))
      }
    }
  }
}
