import CTaskHost
import HostThreads
import TaskModel
import Testing

@testable import PluginRuntime

@Suite("The machine of a run") struct RunMachineTests {
  /// A run that things happen to, one after the other, and what is to be done for them.
  private struct Walk {
    private(set) var machine: RunMachine
    private let begin = SystemClock.now + .seconds(3600)
    private var time = Duration.zero

    /// A budget of 30 s, a grace of 5 s, a stall limit of 10 s.
    init() throws {
      let contract = HandlerContract(
        identifier: try TaskIdentifier("walked"), kind: .processing, budget: .seconds(30), grace: .seconds(5))
      let order = RunOrder(
        run: RunID(sequence: 1, origin: 7), request: RequestID(sequence: 1, origin: 8), contract: contract, attempt: 1, payload: [],
        isAhead: true)
      machine = RunMachine(order, stallLimit: .seconds(10))
    }

    var phase: String {
      switch machine.phase {
      case .waiting: "waiting"
      case .waitingExpired: "waitingExpired"
      case .live: "live"
      case .expired(let expiration): expiration.isTold ? "expired" : "expired(untold)"
      case .abandoned(let abandonment): "abandoned(\(abandonment))"
      case .ended(graceEnd: nil): "ended"
      case .ended: "ended(grace)"
      }
    }

    mutating func handle(_ event: RunMachine.Event) -> [String] { machine.handle(event, at: begin + time).map { words(of: $0) } }

    mutating func look(after duration: Duration = .zero) -> [String] {
      time += duration
      return handle(.look(on: 1))
    }

    mutating func call(_ body: (inout RunMachine, MonotonicTime) throws(CallFailure) -> [RunMachine.Effect]) -> [String] {
      do throws(CallFailure) { return try body(&machine, begin + time).map { words(of: $0) } } catch { return ["\(error.status)"] }
    }

    private func words(of effect: RunMachine.Effect) -> String {
      switch effect {
      case .rouse: "rouse"
      case .arm(let at): "arm \((at - begin).wholeMilliseconds / 1000) s"
      case .tell(.began): "began"
      case .tell(.expired(_, let reason)): "expired \(reason)"
      case .tell(.ended(_, let ending, _)): "ended \(ending.outcome)"
      case .tell(.withdrawn): "withdrawn"
      case .tell(.progress): "progress"
      case .tell(.work(_, let work)): "work \(work.itemsCompleted)"
      case .tell(.log): "log"
      case .tell: "another event"
      case .callExpirationHandler(_, let reason): "call \(reason)"
      case .callAssertionHandler(let assertion, _): "call assertion \(assertion)"
      case .force(let reason): "force \(reason)"
      case .leave: "leave"
      case .suspend: "suspend"
      case .replaceThread: "replaceThread"
      case .confirmTold: "confirmTold"
      case .resume: "resume"
      }
    }
  }

  private typealias Step = @Sendable (inout Walk) -> [String]

  private static let expirationCall = ExpirationCall(handler: { _, _, _ in }, context: nil)
  private static let usage = RunUsage(began: WallTime(unixMilliseconds: 0), handlerTime: .zero, cpuTime: .zero)
  private static let returns: Step = { $0.handle(.returned(.success, usage)) }
  private static let sets: Step = {
    $0.call { (run, _) throws(CallFailure) in
      try run.set(expirationCall)
      return []
    }
  }

  /// A walk into each phase.
  private static func walks() throws -> [(name: String, walk: Walk)] {
    var walks: [(String, Walk)] = []
    func reach(_ name: String, from start: Walk, _ steps: Step...) -> Walk {
      var walk = start
      for step in steps { _ = step(&walk) }
      walks.append((name, walk))
      return walk
    }
    let begin: Step = { $0.handle(.begin(thread: 3)) }
    let expire: Step = { $0.handle(.expire(.cancelled)) }
    let look: Step = { $0.look() }
    let close: Step = { $0.handle(.close(.cancelled, trouble: nil)) }
    let waiting = reach("waiting", from: try Walk()) { _ in [] }
    _ = reach("waitingExpired", from: waiting, expire, look)
    let live = reach("live", from: waiting, begin)
    let expired = reach("expired", from: live, expire, look)
    _ = reach("expired(untold)", from: live, sets, expire, look)
    let abandoned = reach("abandoned(untold)", from: live, close)
    _ = reach("abandoned(told)", from: abandoned) { $0.handle(.abandonmentTold) }
    _ = reach("abandoned(returnedUntold)", from: abandoned, returns)
    _ = reach("ended", from: live, returns)
    _ = reach("ended(grace)", from: expired, returns)
    return walks
  }

  private static let events: [(name: String, step: Step)] = [
    ("begin", { $0.handle(.begin(thread: 3)) }),
    ("withdraw", { $0.handle(.withdraw) }),
    ("refuse", { $0.handle(.refuse("no handler")) }),
    ("expire", { $0.handle(.expire(.draining)) }),
    ("expire and look", { $0.handle(.expire(.draining)) + $0.look() }),
    ("force", { $0.handle(.force(.draining)) }),
    ("force and look", { $0.handle(.force(.draining)) + $0.look() }),
    ("look", { $0.look() }),
    ("look after 6 s", { $0.look(after: .seconds(6)) }),
    ("look after 11 s", { $0.look(after: .seconds(11)) }),
    ("look after 31 s", { $0.look(after: .seconds(31)) }),
    ("expiration handler returned", { $0.handle(.expirationHandlerReturned) }),
    ("close", { $0.handle(.close(.budget, trouble: "stuck")) }),
    ("abandonment told", { $0.handle(.abandonmentTold) }),
    ("returned", returns),
    ("vanished", { $0.handle(.vanished(usage)) }),
  ]

  /// The plugin's calls.
  private static let calls: [(name: String, step: Step)] = [
    (
      "progress",
      { $0.call { (run, now) throws(CallFailure) in try run.advance(RunProgress(completed: 1, total: 2), at: now) } }
    ),
    ("work", { $0.call { (run, now) throws(CallFailure) in try run.add(RunWork(itemsCompleted: 1), at: now) } }),
    (
      "log",
      {
        $0.call { (run, now) throws(CallFailure) in
          try run.log(LogLine(time: WallTime(unixMilliseconds: 0), level: .info, message: "a line"), at: now)
        }
      }
    ),
    ("set handler", sets),
    (
      "clear handler",
      {
        $0.call { (run, _) throws(CallFailure) in
          try run.clearExpirationHandler()
          return []
        }
      }
    ),
  ]

  /// Everything that can happen, and much that cannot.
  private static let happenings = events + calls

  /// Where each event leads and what is to be done; from every other phase it leads nowhere and nothing is.
  private static let table = """
    begin: waiting -> live: began, arm 10 s
    begin: waitingExpired -> expired: began, arm 5 s
    withdraw: waiting, waitingExpired -> ended: leave, withdrawn
    refuse: waiting -> ended: rouse, leave, ended retried
    refuse: waitingExpired -> ended(grace): rouse, leave, ended cancelled
    expire: waiting, waitingExpired, live, expired, expired(untold): arm 0 s
    expire and look: waiting -> waitingExpired: arm 0 s, rouse, arm 5 s, expired draining
    expire and look: waitingExpired, expired: arm 0 s, arm 5 s
    expire and look: live -> expired: arm 0 s, rouse, arm 5 s, expired draining
    expire and look: expired(untold) -> expired: arm 0 s, arm 5 s, expired cancelled
    force: waiting, waitingExpired, live, expired, expired(untold): arm 0 s
    force and look: waiting, live: arm 0 s, force draining
    force and look: waitingExpired, expired, expired(untold): arm 0 s, force cancelled
    look: waitingExpired, expired: arm 5 s
    look: live: arm 10 s
    look: expired(untold) -> expired: arm 5 s, expired cancelled
    look after 6 s: waitingExpired, expired, expired(untold): force cancelled
    look after 6 s: live: arm 10 s
    look after 11 s: waitingExpired, expired, expired(untold): force cancelled
    look after 11 s: live -> expired: rouse, arm 16 s, expired stalled
    look after 31 s: waitingExpired, expired, expired(untold): force cancelled
    look after 31 s: live -> expired: rouse, arm 36 s, expired budget
    expiration handler returned: expired(untold): rouse
    close: waiting, waitingExpired -> ended: rouse, leave, ended expired
    close: live, expired -> abandoned(untold): rouse, suspend, replaceThread, ended expired, confirmTold
    close: expired(untold) -> abandoned(untold): rouse, suspend, replaceThread, expired cancelled, ended expired, confirmTold
    abandonment told: abandoned(untold) -> abandoned(told)
    abandonment told: abandoned(returnedUntold) -> ended: resume
    returned: live -> ended: rouse, leave, ended succeeded
    returned: expired -> ended(grace): rouse, leave, ended cancelled
    returned: expired(untold) -> ended(grace): rouse, leave, expired cancelled, ended cancelled
    returned: abandoned(untold) -> abandoned(returnedUntold)
    returned: abandoned(told) -> ended: resume
    vanished: live -> ended: rouse, replaceThread, leave, ended retried
    vanished: expired -> ended(grace): rouse, replaceThread, leave, ended cancelled
    vanished: expired(untold) -> ended(grace): rouse, replaceThread, leave, expired cancelled, ended cancelled
    vanished: abandoned(untold) -> abandoned(returnedUntold)
    vanished: abandoned(told) -> ended: resume
    """

  @Test("all pairs of phase and event: where each leads, and what is to be done") func pairs() throws {
    var found: [String] = []
    for (name, step) in Self.events {
      var rows: [(from: [String], result: String)] = []
      for (phase, walk) in try Self.walks() {
        var walk = walk
        #expect(walk.phase == phase)
        let effects = step(&walk).joined(separator: ", ")
        let result = (walk.phase == phase ? "" : " -> \(walk.phase)") + (effects.isEmpty ? "" : ": \(effects)")
        if result.isEmpty { continue }
        if let place = rows.firstIndex(where: { $0.result == result }) {
          rows[place].from.append(phase)
        } else {
          rows.append(([phase], result))
        }
      }
      for row in rows { found.append("\(name): \(row.from.joined(separator: ", "))\(row.result)") }
    }
    #expect(found == Self.table.split(separator: "\n").map(String.init), "\(found.joined(separator: "\n"))")
  }

  @Test("whatever happens, a run's expiration and its end are told once each, in this order, and nothing is told after its end")
  func accounts() throws {
    for (phase, walk) in try Self.walks() {
      let wasOver = phase.hasPrefix("ended") || phase.hasPrefix("abandoned")
      for (name, step) in Self.happenings {
        for (later, last) in Self.happenings {
          var walk = walk
          let told = step(&walk) + last(&walk)
          let what = "\(phase), \(name), \(later): \(told)"
          let ends = told.indices.filter { told[$0].hasPrefix("ended") || told[$0] == "withdrawn" }
          let expirations = told.indices.filter { told[$0].hasPrefix("expired ") }
          let isOver = walk.phase.hasPrefix("ended") || walk.phase.hasPrefix("abandoned")
          #expect(ends.count == (isOver && !wasOver ? 1 : 0), "\(what)")
          #expect(expirations.count <= (["waiting", "live", "expired(untold)"].contains(phase) ? 1 : 0), "\(what)")
          #expect(!wasOver || !told.contains { ["began", "progress", "log"].contains($0) || $0.hasPrefix("force") }, "\(what)")
          guard let end = ends.first else { continue }
          #expect(!told[(end + 1)...].contains { ["began", "progress", "log"].contains($0) || $0.hasPrefix("expired ") }, "\(what)")
          #expect(walk.phase.hasPrefix("abandoned") || told.contains("leave") || told.contains("resume"), "\(what)")
        }
      }
    }
  }

  @Test("the expiration handler is called once at most, and never after the end") func expirationHandler() throws {
    for (_, walk) in try Self.walks() {
      for (_, first) in Self.happenings {
        for (_, second) in Self.happenings {
          var walk = walk
          let done = Self.sets(&walk) + first(&walk) + second(&walk) + walk.look(after: .seconds(31))
          let calls = done.indices.filter { done[$0].hasPrefix("call ") }
          #expect(calls.count <= 1, "\(done)")
          if let call = calls.first { #expect(!done[..<call].contains { $0.hasPrefix("ended") }, "\(done)") }
        }
      }
    }
  }

  @Test("a plugin's calls are answered as of an ended run unless its handler runs") func staleCalls() throws {
    for (phase, walk) in try Self.walks() {
      let isLive = phase == "live" || phase.hasPrefix("expired")
      for (name, step) in Self.calls {
        var walk = walk
        let answer = step(&walk)
        #expect(answer.contains("stale") == !isLive, "\(phase), \(name): \(answer)")
        #expect(walk.phase == phase)
      }
      #expect(((try? walk.machine.remainingMilliseconds(at: SystemClock.now)) != nil) == isLive, "\(phase)")
      #expect(((try? walk.machine.graceMilliseconds(at: SystemClock.now)) != nil) == isLive, "\(phase)")
      #expect((walk.machine.endOfGrace != nil) == (phase == "ended(grace)"), "\(phase)")
      #expect((walk.machine.threadOfLiveHandler != nil) == isLive, "\(phase)")
    }
  }

  @Test("progress that increases postpones a stall, not the budget") func stall() throws {
    var walk = try Walk()
    _ = walk.handle(.begin(thread: 3))
    for completed: UInt64 in [1, 2, 2] {
      #expect(walk.look(after: .seconds(9)).first?.hasPrefix("arm") == true)
      _ = walk.call { (run, now) throws(CallFailure) in try run.advance(RunProgress(completed: completed, total: 9), at: now) }
    }
    #expect(walk.look(after: .seconds(1)) == ["rouse", "arm 33 s", "expired stalled"])
    #expect(walk.look(after: .seconds(5)) == ["force stalled"])
  }

  @Test("a run that is suspended has neither a budget nor a stall, stops when it is asked to, and has all its time afterwards")
  func suspendedBudget() throws {
    var walk = try Walk()
    _ = walk.handle(.begin(thread: 3))
    #expect(walk.handle(.suspendBudget(true)) == [])
    #expect(walk.look(after: .seconds(60)) == [], "neither stalled nor over")
    var other = walk
    #expect(walk.handle(.suspendBudget(false)) == ["arm 70 s"])
    #expect(walk.look(after: .seconds(10)) == ["rouse", "arm 75 s", "expired stalled"])
    #expect(other.handle(.expire(.cancelled)) == ["arm 60 s"])
    #expect(other.look() == ["rouse", "arm 65 s", "expired cancelled"])
    #expect(other.look(after: .seconds(60)) == [], "its grace is suspended too")
    #expect(other.handle(.suspendBudget(false)) == ["arm 125 s"])
    #expect(other.look(after: .seconds(5)) == ["force cancelled"])
  }

  @Test("counts are told at intervals, and all of them at the end") func work() throws {
    var walk = try Walk()
    _ = walk.handle(.begin(thread: 3))
    func add() -> [String] { walk.call { (run, now) throws(CallFailure) in try run.add(RunWork(itemsCompleted: 1), at: now) } }
    #expect(add() == [], "just begun")
    _ = walk.look(after: Limits.workInterval)
    #expect(add() == ["work 2"])
    #expect(add() == [])
    _ = Self.returns(&walk)
    #expect(walk.machine.report.work == RunWork(itemsCompleted: 3))
    #expect(add() == ["stale"])
  }

  @Test("unit and message stay until they are changed or removed") func details() throws {
    var walk = try Walk()
    _ = walk.handle(.begin(thread: 3))
    func advance(_ unit: ProgressDetail, _ message: ProgressDetail) -> RunProgress? {
      let told = walk.call { (run, now) throws(CallFailure) in
        try run.advance(RunProgress(completed: 1, total: 2), unit: unit, message: message, at: now)
      }
      #expect(told == ["progress"])
      return walk.machine.report.progress
    }
    #expect(advance(.text("files"), .text("copying")) == RunProgress(completed: 1, total: 2, unit: "files", message: "copying"))
    #expect(advance(.kept, .kept) == RunProgress(completed: 1, total: 2, unit: "files", message: "copying"))
    #expect(advance(.kept, .text(nil)) == RunProgress(completed: 1, total: 2, unit: "files"))
  }

  @Test("dropped lines are told as one line, with the next line or at the end") func droppedLines() throws {
    var walk = try Walk()
    _ = walk.handle(.begin(thread: 3))
    func log(_ count: Int) -> [String] {
      (0..<count).flatMap { _ in
        walk.call { (run, now) throws(CallFailure) in
          try run.log(LogLine(time: WallTime(unixMilliseconds: 5), level: .info, message: "a line"), at: now)
        }
      }
    }
    #expect(log(Limits.logBurst + 2).count == Limits.logBurst)
    _ = walk.look(after: .seconds(5))
    #expect(log(1) == ["log", "log"])
    #expect(walk.machine.report.log.suffix(2).map(\.message) == ["2 log lines were dropped: too many at once", "a line"])
    _ = log(Limits.logBurst * 100)
    #expect(Self.returns(&walk).suffix(2) == ["log", "ended succeeded"])
  }
}
