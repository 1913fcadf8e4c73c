import TaskModel
import Testing
import WorkerLink

@testable import WorkerProcesses

@Suite("The machine of a worker's life") struct WorkerMachineTests {
  // MARK: All pairs

  /// A walk into each phase. Where there are runs, 1 and 2 are in the worker's slots and 3 waits behind them.
  private static let walks: [(name: String, walk: MachineWalk)] = {
    var walks: [(String, MachineWalk)] = []
    func reach(_ name: String, from start: MachineWalk, _ step: (inout MachineWalk) -> Void) -> MachineWalk {
      var walk = start
      step(&walk)
      walks.append((name, walk))
      return walk
    }
    let none = reach("none", from: MachineWalk()) { _ in }
    let spawning = reach("spawning", from: none) { $0.handle(.launch) }
    let launching = reach("launching", from: spawning) {
      _ = $0.spawn()
      $0.says(.confined(missing: []))
    }
    let idle = reach("idle", from: none) { $0.launch() }
    let serving = reach("serving", from: idle) { walk in walk.handle(.start([walk.order(), walk.order(), walk.order()])) }
    let stopping = reach("stopping", from: idle) { $0.handle(.retire) }
    _ = reach("killed(launchOverdue)", from: launching) { _ = $0.sleep(.seconds(31)) }
    _ = reach("killed(hostEnds)", from: launching) { $0.handle(.close) }
    _ = reach("killed(launchFailed)", from: launching) { $0.says(.refused(LaunchFailure(step: .status, observed: "no"))) }
    _ = reach("killed(force)", from: serving) { $0.handle(.force(MachineWalk.run(1), .cancelled)) }
    _ = reach("killed(violation)", from: serving) { $0.handle(.violated("it lied")) }
    _ = reach("killed(shutdownOverdue)", from: stopping) { _ = $0.sleep(.seconds(6)) }
    return walks
  }()

  /// Everything that can happen, and much that cannot.
  private static let happenings: [(name: String, step: @Sendable (inout MachineWalk) -> [String])] = {
    let run = MachineWalk.run(1)
    let line = LogLine(time: WallTime(unixMilliseconds: 0), level: .info, message: "a line")
    return [
      ("launch", { $0.handle(.launch) }),
      ("adopt", { $0.handle(.adopt([MachineWalk.registration], [$0.contract])) }),
      ("start", { walk in walk.handle(.start([walk.order()])) }),
      ("start nothing", { $0.handle(.start([])) }),
      ("withdraw", { $0.handle(.withdraw([1, 2, 3, 99].map(MachineWalk.run))) }),
      ("expire", { $0.handle(.expire(run, .cancelled)) }),
      ("force", { $0.handle(.force(run, .cancelled)) }),
      ("retire", { $0.handle(.retire) }),
      ("close", { $0.handle(.close) }),
      ("spawned", { $0.spawn() }),
      ("spawn failed", { $0.handle(.spawnFailed(observed: "there is no program", .worker)) }),
      ("a start was not taken", { $0.handle(.sendFailed(.start([]))) }),
      ("a question for runs was not taken", { $0.handle(.sendFailed(.withdraw([run]))) }),
      ("an answer was not taken", { $0.handle(.sendFailed(.answer(number: 1, .done))) }),
      ("another message was not taken", { $0.handle(.sendFailed(.shutdown)) }),
      ("blocked", { $0.blocks() }),
      ("admitted", { $0.handle(.admitted(MachineWalk.identifier)) }),
      ("woken early", { $0.sleep(.zero) }),
      ("woken late", { $0.sleep(.seconds(3600)) }),
      ("woken late and blocked", { $0.sleep(.seconds(3600), blockedSince: .zero) }),
      ("says confined", { $0.says(.confined(missing: [])) }),
      ("says launched", { $0.says(.launched(LaunchReport(registrations: []))) }),
      ("says launched with what it may not have", { $0.says(.launched(LaunchReport(registrations: [MachineWalk.registration]))) }),
      ("says refused", { $0.says(.refused(LaunchFailure(step: .status, observed: "no"))) }),
      ("says a line of its launch", { $0.says(.launchLog(line)) }),
      ("says ended", { $0.endsRun(1) }),
      ("says ended for the budget", { $0.endsRun(1, stop: .budget) }),
      ("says withdrawn", { $0.says(.withdrawn(run)) }),
      ("says began", { $0.says(.began(run)) }),
      ("says shortage", { $0.says(.shortage(MachineWalk.identifier, "no threads")) }),
      ("says expired", { $0.says(.expired(run, .budget)) }),
      ("says progress", { $0.says(.progress(run, RunProgress(completed: 1, total: 2))) }),
      ("says a line of a run", { $0.says(.log(run, line)) }),
      ("says a line", { $0.says(.log(nil, line)) }),
      ("says dropped", { $0.says(.dropped(lines: 1)) }),
      ("says stuck", { $0.says(.stuck(run, thread: "t", stack: "")) }),
      ("calls for its launch", { $0.says(.call(number: 1, .admit(MachineWalk.identifier))) }),
      ("calls for a run", { $0.says(.call(number: 1, .checkpoint(run))) }),
      ("says stopped", { $0.says(.stopped(threadsLeft: 0)) }),
      ("wrote", { $0.handle(.wrote(line)) }),
      ("violated", { $0.handle(.violated("it lied")) }),
      ("ended", { $0.dies(begun: [1, 2]) }),
    ]
  }()

  /// Where each event leads; from every other phase it leads nowhere.
  private static let moves = """
    launch: none -> spawning
    start: none -> spawning; idle -> serving
    force: serving -> killed(force)
    retire: idle -> stopping
    close: launching -> killed(hostEnds); idle, serving -> stopping
    spawned: spawning -> launching
    spawn failed: spawning -> none
    a start was not taken: launching, idle, serving, stopping -> killed(violation)
    a question for runs was not taken: launching, idle, serving, stopping -> killed(violation)
    an answer was not taken: launching, idle, serving, stopping -> killed(violation)
    woken late: launching -> killed(launchOverdue); idle -> stopping; stopping -> killed(shutdownOverdue)
    woken late and blocked: launching -> killed(launchOverdue); idle -> stopping; serving -> killed(violation); \
    stopping -> killed(shutdownOverdue)
    says confined: launching, idle, serving, stopping -> killed(violation)
    says launched: launching -> idle; idle, serving, stopping -> killed(violation)
    says launched with what it may not have: launching, idle, serving, stopping -> killed(violation)
    says refused: launching -> killed(launchFailed); idle, serving, stopping -> killed(violation)
    says a line of its launch: idle, serving, stopping -> killed(violation)
    says ended: launching, idle, stopping -> killed(violation)
    says ended for the budget: launching, idle, serving, stopping -> killed(violation)
    says withdrawn: launching, serving -> killed(violation)
    says began: launching -> killed(violation)
    says shortage: launching, idle, stopping -> killed(violation)
    says expired: launching, serving -> killed(violation)
    says progress: launching -> killed(violation)
    says a line of a run: launching -> killed(violation)
    says dropped: launching, idle, serving, stopping -> killed(violation)
    says stuck: launching, serving -> killed(violation)
    says stopped: launching, idle, serving -> killed(violation)
    violated: launching, idle, serving, stopping -> killed(violation)
    ended: launching, idle, serving, stopping, killed(launchOverdue), killed(hostEnds), killed(launchFailed), \
    killed(force), killed(violation), killed(shutdownOverdue) -> none
    """

  @Test("of all pairs of phase and event these change the phase, and no other") func moves() {
    var found: [String] = []
    for (name, step) in Self.happenings {
      var moves: [(from: [String], to: String)] = []
      for (phase, walk) in Self.walks {
        var walk = walk
        #expect(walk.phase == phase)
        _ = step(&walk)
        guard walk.phase != phase else { continue }
        if let place = moves.firstIndex(where: { $0.to == walk.phase }) {
          moves[place].from.append(phase)
        } else {
          moves.append(([phase], walk.phase))
        }
      }
      let words = moves.map { $0.from.joined(separator: ", ") + " -> " + $0.to }
      if !words.isEmpty { found.append("\(name): " + words.joined(separator: "; ")) }
    }
    #expect(found == Self.moves.split(separator: "\n").map(String.init), "\(found.joined(separator: "\n"))")
  }

  @Test("a process is started, and killed, when a phase says so; nothing is sent to one that is not there or is being killed")
  func effects() {
    for (phase, walk) in Self.walks {
      for (name, step) in Self.happenings {
        var walk = walk
        let effects = step(&walk)
        let (isKilled, wasKilled) = (walk.phase.hasPrefix("killed"), phase.hasPrefix("killed"))
        #expect(
          effects.count { $0 == "spawn" } == (walk.phase == "spawning" && phase != "spawning" ? 1 : 0), "\(phase), \(name): \(effects)")
        #expect(effects.count { $0 == "kill" } == (isKilled && !wasKilled ? 1 : 0), "\(phase), \(name): \(effects)")
        if phase == "none" || phase == "spawning" || wasKilled {
          #expect(!effects.contains { $0.hasPrefix("send") }, "\(phase), \(name): \(effects)")
        }
        // Whoever sleeps until the earliest deadline has been told of it.
        if Set(walk.deadlines).subtracting(Self.walks.first { $0.name == phase }?.walk.deadlines ?? []).isEmpty == false {
          #expect(effects.contains("wake"), "\(phase), \(name): \(effects)")
        }
      }
    }
  }

  @Test("whatever happens, each run that is gone was told as ended or given back, once, and never as begun after that") func accounts() {
    for (phase, walk) in Self.walks {
      for (name, step) in Self.happenings {
        for (later, last) in Self.happenings {
          var walk = walk
          let before = Set(walk.machine.runs.keys)
          let told = step(&walk) + last(&walk)
          for run in [1, 2, 3] as [Int64] where before.contains(MachineWalk.run(run)) {
            let ends = told.indices.filter { told[$0].hasPrefix("ended \(run) ") || told[$0] == "withdrawn \(run)" }
            #expect(ends.count == (walk.machine.runs[MachineWalk.run(run)] == nil ? 1 : 0), "\(phase), \(name), \(later): \(told)")
            guard let end = ends.first else { continue }
            #expect(!told[end...].contains("began \(run)"), "\(phase), \(name), \(later): \(told)")
          }
        }
      }
    }
  }

  @Test("every phase says what it waits for and until when, and nothing waits for a process that is killed") func deadlines() {
    for (phase, walk) in Self.walks {
      let expected =
        switch phase {
        case "launching": ["launch: 31000 ms"]
        case "idle": ["idle: 20000 ms"]
        case "stopping": ["shutdown: 6000 ms"]
        default: [String]()
        }
      #expect(walk.deadlines == expected, "\(phase)")
    }
    var walk = MachineWalk(budget: .seconds(10), concurrent: 1)
    walk.launch()
    walk.handle(.start([walk.order(), walk.order()]))
    walk.pass(.seconds(1))
    walk.handle(.withdraw([MachineWalk.run(2)]))
    _ = walk.blocks()
    let run = MachineWalk.run
    #expect(walk.deadlines == ["reading: 11000 ms", "run(\(run(1))): 15100 ms", "answer(\(run(2))): 11000 ms"])
  }
}
