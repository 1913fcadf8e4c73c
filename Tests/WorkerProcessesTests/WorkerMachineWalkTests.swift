import TaskModel
import Testing
import WorkerLink

@testable import WorkerProcesses

/// Orders of events that decide what is told of a run.
@Suite("A walk through a worker's life") struct WorkerMachineWalkTests {
  /// A worker with runs 1 to `runs`, of which `concurrent` have slots.
  private func serving(
    runs: Int, concurrent: Int = 2, budget: Duration? = nil, isAhead: Bool = true, tellsBegin: Bool = false
  ) -> MachineWalk {
    var walk = MachineWalk(budget: budget, concurrent: concurrent)
    walk.launch()
    walk.handle(.start((0..<runs).map { _ in walk.order(isAhead: isAhead, tellsBegin: tellsBegin) }))
    return walk
  }

  private func told(_ effects: [String]) -> [String] { effects.filter { $0 != "wake" && $0 != "rouse" } }

  // MARK: Begin and end

  @Test("a run that its host asked to stop has expired before it ends, in whichever order its worker says so") func expiration() {
    var walk = serving(runs: 1)
    #expect(told(walk.handle(.expire(MachineWalk.run(1), .cancelled))) == ["send expire 1 cancelled"])
    var other = walk
    #expect(told(walk.says(.expired(MachineWalk.run(1), .cancelled))) == ["expired 1 cancelled"])
    #expect(told(walk.endsRun(1, stop: .cancelled)) == ["ended 1 success cancelled"])
    // The word of the end overtakes that of the expiration, which means nothing then.
    #expect(told(other.endsRun(1, stop: .cancelled)) == ["expired 1 cancelled", "ended 1 success cancelled"])
    #expect(told(other.says(.expired(MachineWalk.run(1), .cancelled))) == [])
  }

  @Test("while a debugger holds a worker, only its shutdown is waited for; afterwards its runs have their whole budgets") func suspended() {
    var walk = serving(runs: 1, budget: .seconds(30))
    #expect(told(walk.handle(.suspendBudgets(true))) == ["send suspend"])
    #expect(walk.deadlines == [])
    walk.pass(.seconds(100))
    #expect(walk.handle(.suspendBudgets(true)) == [], "nothing has changed")
    #expect(told(walk.handle(.suspendBudgets(false))) == ["send resume"])
    #expect(walk.deadlines.count == 1 && walk.deadlines[0].hasSuffix(": 135100 ms"), "\(walk.deadlines)")
    walk.handle(.suspendBudgets(true))
    walk.handle(.close)
    #expect(walk.deadlines.count == 1, "it must end when the host does")
  }

  @Test("a worker that a debugger asks for is started, and is told before it launches") func startsForDebugger() {
    var walk = MachineWalk(budget: nil, concurrent: 1)
    #expect(walk.handle(.suspendBudgets(true)) == ["spawn"])
    #expect(told(walk.spawn()) == ["boot", "send suspend"])
    #expect(walk.deadlines == [])
  }

  @Test("a worker is told when a lease ends, before it launches too; the end of leases is for later ones") func lease() {
    var walk = MachineWalk(budget: nil, concurrent: 1)
    #expect(walk.handle(.lease(until: 7)) == [])
    walk.handle(.start([walk.order()]))
    #expect(told(walk.spawn()) == ["boot", "send lease 7"])
    #expect(told(walk.handle(.lease(until: 9))) == ["send lease 9"])
    #expect(walk.handle(.lease(until: 9)) == [], "nothing has changed")
    // It may have runs of the lease, so the kernel still kills it.
    #expect(walk.handle(.lease(until: 0)) == [])
  }

  @Test("what the end of a lease kills is lost, and no crash of its plugin; what dies before it, or otherwise, crashed")
  func killedWithLease() {
    func end(_ status: Int32, at time: Int64) -> WorkerEnd {
      WorkerEnd(status: status, cpuTime: .zero, peakMemory: nil, crash: nil, at: time)
    }
    for (end, words) in [(end(-9, at: 9), "ended 1 lost"), (end(-9, at: 8), "ended 1 crashed"), (end(-15, at: 9), "ended 1 crashed")] {
      var walk = serving(runs: 1)
      walk.handle(.lease(until: 7))
      walk.handle(.lease(until: 9))
      #expect(told(walk.dies(end, begun: [1])).contains { $0.hasPrefix(words) })
    }
    var walk = MachineWalk(budget: nil, concurrent: 1)
    walk.handle(.lease(until: 9))
    walk.handle(.start([walk.order()]))
    _ = walk.spawn()
    #expect(told(walk.dies(end(-9, at: 9))) == ["withdrawn 1"])
  }

  @Test("a run is asked to stop once") func expiresOnce() {
    var walk = serving(runs: 1)
    walk.handle(.expire(MachineWalk.run(1), .conditions))
    #expect(walk.handle(.expire(MachineWalk.run(1), .cancelled)) == [])
    #expect(told(walk.endsRun(1, stop: .cancelled)) == ["kill"], "the second reason was not given")
  }

  @Test("a run begins when the place before it is free, and that is told once") func beginsOnce() {
    var walk = serving(runs: 3)
    #expect(told(walk.endsRun(1)) == ["ended 1 success", "began 3"])
    #expect(told(walk.says(.call(number: 1, .checkpoint(MachineWalk.run(3))))) == ["serve 3"])
    #expect(told(walk.says(.began(MachineWalk.run(3)))) == [])
    #expect(told(walk.endsRun(3)) == ["ended 3 success"])
  }

  @Test("a run that calls has begun, which is told before its call is served") func calls() {
    var walk = serving(runs: 3)
    #expect(told(walk.says(.call(number: 1, .checkpoint(MachineWalk.run(3))))) == ["began 3", "serve 3"])
    #expect(told(walk.endsRun(1)) == ["ended 1 success"])
  }

  @Test("a run whose begin counts has begun when its worker says so, and that is told once") func counts() {
    var walk = serving(runs: 1, tellsBegin: true)
    #expect(told(walk.says(.began(MachineWalk.run(1)))) == ["began 1"])
    #expect(told(walk.says(.began(MachineWalk.run(1)))) == [])
  }

  @Test("a run that is asked back answers that it has begun, or is given back; no other run is") func askedBack() {
    var walk = serving(runs: 4)
    #expect(told(walk.handle(.withdraw([1, 3].map(MachineWalk.run)))) == ["began 1", "send withdraw 3"])
    #expect(told(walk.handle(.withdraw([MachineWalk.run(3)]))) == [], "it was asked for before")
    #expect(told(walk.says(.withdrawn(MachineWalk.run(3)))) == ["withdrawn 3"])
    walk.handle(.withdraw([MachineWalk.run(4)]))
    #expect(told(walk.says(.began(MachineWalk.run(4)))) == ["began 4"])
    #expect(walk.deadlines == [], "it has answered")
    #expect(told(walk.says(.withdrawn(MachineWalk.run(4)))) == ["kill"])
  }

  @Test("calls that submit are taken from a run that expired for as long as its grace would have lasted") func graced() {
    let submission = WorkerMessage.call(number: 1, .pending(MachineWalk.run(1), after: nil))
    var walk = serving(runs: 1)
    walk.handle(.expire(MachineWalk.run(1), .cancelled))
    walk.endsRun(1, stop: .cancelled)
    #expect(walk.says(submission) == ["serve 1"])
    #expect(walk.says(.call(number: 1, .checkpoint(MachineWalk.run(1)))) == ["refuse: stale"])
    walk.pass(.seconds(5))
    #expect(walk.says(submission) == ["refuse: stale"])
    var unexpired = serving(runs: 1)
    unexpired.endsRun(1)
    #expect(unexpired.says(submission) == ["refuse: stale"])
  }

  // MARK: The end of the process

  @Test("runs that had not begun when their process died are given back") func givenBack() {
    var walk = serving(runs: 3)
    #expect(
      told(walk.dies(begun: [1])) == ["ended 1 crashed: its worker ended with exit status 0", "withdrawn 2", "withdrawn 3"])
    #expect(walk.phase == "none")
  }

  @Test("where none had begun by its own word, all in its slots have") func noneBegan() {
    var walk = serving(runs: 3)
    let why = "its worker ended with exit status 0"
    #expect(told(walk.dies()) == ["ended 1 crashed: \(why)", "ended 2 crashed: \(why)", "withdrawn 3"])
  }

  @Test("the run that the process crashed in has begun and crashed, the others are lost") func crashed() {
    var walk = serving(runs: 3)
    #expect(
      told(walk.dies(.crash(in: MachineWalk.run(3)), begun: [1, 3])) == [
        "began 3", "ended 1 lost: its worker crashed: SIGSEGV in another run", "ended 3 crashed: its worker crashed: SIGSEGV",
        "withdrawn 2",
      ])
  }

  @Test("a run that does not stop has its process killed, and ends when that is reaped, not before") func forced() {
    var walk = serving(runs: 2, budget: .seconds(10))
    #expect(walk.sleep(.seconds(10)) == [])
    // Budget, grace, and the patience for the worker's own word.
    #expect(walk.sleep(.milliseconds(5100)) == ["kill"])
    #expect(told(walk.endsRun(1, stop: .budget)) == [], "its own end comes too late")
    let effects = walk.dies(begun: [1, 2])
    #expect(told(effects) == ["ended 1 forced budget", "ended 2 forced budget"])
    #expect(effects.last == "rouse")
  }

  @Test("a run that ends while its process is killed for another has ended so; one that has not is lost") func neighbours() {
    var walk = serving(runs: 3, concurrent: 3)
    #expect(told(walk.handle(.force(MachineWalk.run(1), .cancelled))) == ["kill"])
    let endings = [1, 9, 2].map {
      WireEnding(run: MachineWalk.run($0), ending: .returned(.success, stop: nil), report: RunReport())
    }
    #expect(told(walk.says(.ended(endings))) == ["ended 2 success"])
    #expect(
      told(walk.dies(begun: [1, 2, 3])) == [
        "ended 1 forced cancelled", "ended 3 lost: its worker was killed because another of its runs did not stop in its grace",
      ])
  }

  @Test("a place that gets free in a process that is killed begins nothing: its end says what had begun", arguments: [false, true])
  func placeOfKilled(begun: Bool) {
    var walk = serving(runs: 3)
    walk.handle(.force(MachineWalk.run(1), .cancelled))
    #expect(told(walk.endsRun(2)) == ["ended 2 success"])
    let end = told(walk.dies(begun: begun ? [1, 2, 3] : [1, 2]))
    if begun {
      #expect(end.prefix(2) == ["began 3", "ended 1 forced cancelled"])
      #expect(end.last?.hasPrefix("ended 3 lost") == true)
    } else {
      #expect(end == ["ended 1 forced cancelled", "withdrawn 3"])
    }
  }

  @Test("a violation costs the runs that had begun; without one it is told by itself") func violation() {
    var walk = serving(runs: 3)
    #expect(told(walk.endsRun(9)) == ["kill"])
    #expect(told(walk.endsRun(1)) == [], "it is not listened to any more")
    let why = "its worker was killed: it ended a run that it does not have"
    #expect(told(walk.dies(begun: [1, 2])) == ["ended 1 crashed: \(why)", "ended 2 crashed: \(why)", "withdrawn 3"])
    var idle = serving(runs: 0)
    idle.handle(.violated("it lied"))
    #expect(told(idle.dies()) == ["misbehaved (3): its worker was killed: it lied"])
  }

  @Test("words about runs that it does not have are left alone, but not without end") func strayWords() {
    var walk = serving(runs: 1)
    let word = WorkerMessage.progress(MachineWalk.run(9), RunProgress(completed: 1, total: 1))
    for _ in 0..<1000 { #expect(walk.says(word) == []) }
    #expect(walk.says(word) == ["kill"])
  }

  @Test("what it lacks is told once in half a second, and as relieved when a run ends") func shortage() throws {
    var walk = serving(runs: 4)
    let word = WorkerMessage.shortage(MachineWalk.identifier, "no threads")
    #expect(walk.says(word) == ["shortage of resources: a run in its worker could not begin: no threads"])
    #expect(told(walk.says(word)) == [])
    walk.pass(.milliseconds(500))
    #expect(told(walk.says(word)).count == 1)
    #expect(told(walk.endsRun(1)) == ["ended 1 success", "relieved", "began 3"])
    let foreign = try TaskIdentifier("test.foreign")
    #expect(walk.says(.shortage(foreign, "no threads")) == ["kill"])
  }

  // MARK: Launch, idleness and shutdown

  @Test("runs wait for a launch, and are sent when the plugin has launched") func launch() {
    var walk = MachineWalk()
    #expect(walk.handle(.start([walk.order(), walk.order(), walk.order()])) == ["spawn"])
    #expect(walk.spawn() == ["wake", "boot"])
    walk.says(.confined(missing: []))
    #expect(walk.says(.call(number: 0, .admit(MachineWalk.identifier))) == ["ask policy"])
    walk.handle(.admitted(MachineWalk.identifier))
    #expect(
      walk.says(.launched(LaunchReport(registrations: [MachineWalk.registration]))) == ["rouse", "send start 1+2+3", "began 1", "began 2"])
    #expect(walk.phase == "serving")
  }

  @Test("a launch that takes too long is a timeout, one that the host breaks off is not its plugin's, and a refusal is told at once")
  func launchTimeouts() {
    func launching() -> MachineWalk {
      var walk = MachineWalk()
      walk.handle(.start([walk.order()]))
      _ = walk.spawn()
      walk.says(.confined(missing: []))
      return walk
    }
    let failed = "ended 1 crashed: its worker could not be started:"
    var late = launching()
    #expect(late.sleep(.seconds(30)) == [])
    #expect(late.sleep(.seconds(1)) == ["kill"])
    #expect(told(late.dies()) == ["\(failed) it did not answer within the launch budget of 30000 ms"])
    var closed = launching()
    #expect(closed.handle(.close) == ["kill"])
    #expect(told(closed.dies()) == ["\(failed) the host ended meanwhile"])
    var refused = launching()
    #expect(told(refused.says(.refused(LaunchFailure(step: .status, observed: "it said no")))) == ["kill", "\(failed) it said no"])
    // Given meanwhile, it gets a process of its own.
    #expect(refused.handle(.start([refused.order()])) == [])
    #expect(told(refused.dies()) == ["spawn"])
  }

  @Test("a worker that cannot begin is the host's trouble: its runs are given back, and it is told when there is one again") func noWorker()
  {
    var walk = MachineWalk()
    walk.launch()
    walk.handle(.retire)
    walk.handle(.start([walk.order()]))
    #expect(told(walk.dies()) == ["spawn"])
    #expect(
      told(walk.handle(.spawnFailed(observed: "there is no program", .worker))) == [
        "shortage of worker: its worker could not be started: there is no program", "withdrawn 1",
      ])
    walk.handle(.start([walk.order()]))
    _ = walk.spawn()
    #expect(told(walk.dies(.exit(70))).last == "withdrawn 2")
    walk.handle(.launch)
    _ = walk.spawn()
    walk.says(.confined(missing: []))
    walk.handle(.admitted(MachineWalk.identifier))
    #expect(told(walk.says(.launched(LaunchReport(registrations: [MachineWalk.registration])))) == ["send contracts", "relieved"])
  }

  @Test("an idle worker is asked to end, and a run that comes meanwhile gets another") func idle() {
    var walk = serving(runs: 1)
    #expect(walk.sleep(.seconds(3600)) == [], "it has a run")
    #expect(walk.endsRun(1) == ["ended 1 success", "wake"])
    #expect(walk.sleep(.seconds(19)) == [])
    #expect(walk.sleep(.seconds(1)) == ["wake", "send shutdown"])
    #expect(walk.handle(.start([walk.order()])) == [])
    walk.says(.stopped(threadsLeft: 0))
    #expect(told(walk.dies()) == ["spawn"])
  }

  @Test("whoever asks for a launch while a process ends is not left waiting") func launchMeanwhile() {
    var walk = serving(runs: 0)
    walk.handle(.retire)
    #expect(walk.handle(.launch) == [])
    #expect(walk.dies() == ["spawn", "rouse"])
    var closing = serving(runs: 0)
    closing.handle(.close)
    closing.handle(.launch)
    #expect(closing.dies() == ["rouse", "rouse"])
    #expect(closing.machine.launchOutcome != nil)
  }

  @Test("a worker that leaves serves its runs to their ends and is asked to end after the last; one without runs, at once") func leaves() {
    var walk = serving(runs: 2)
    #expect(told(walk.handle(.leave)) == [])
    #expect(told(walk.endsRun(1)) == ["ended 1 success"])
    #expect(told(walk.endsRun(2)) == ["ended 2 success", "send shutdown"])
    #expect(told(walk.dies()) == [])
    var idle = serving(runs: 0)
    #expect(told(idle.handle(.leave)) == ["send shutdown"])
    var none = MachineWalk()
    #expect(told(none.handle(.leave)) == [])
  }

  @Test("a worker that does not end when it is asked to is killed") func shutdown() {
    var walk = serving(runs: 0)
    #expect(told(walk.handle(.close)) == ["send shutdown"])
    #expect(walk.sleep(.milliseconds(5999)) == [])
    #expect(walk.sleep(.milliseconds(1)) == ["kill"])
    #expect(told(walk.dies()) == [])
  }

  @Test("a worker that does not read, or does not answer, is killed after 10 s with the reason") func silence() {
    var deaf = serving(runs: 1)
    #expect(deaf.blocks() == ["wake"])
    // It has read meanwhile, and is blocked again since then.
    #expect(deaf.sleep(.seconds(10), blockedSince: deaf.time + .seconds(5)) == [])
    #expect(deaf.sleep(.seconds(5), blockedSince: deaf.time - .seconds(5)) == ["kill"])
    #expect(told(deaf.dies()) == ["ended 1 crashed: its worker was killed: it does not read what it is sent"])
    var mute = serving(runs: 3)
    #expect(mute.handle(.withdraw([MachineWalk.run(3)])) == ["wake", "send withdraw 3"])
    #expect(mute.sleep(.seconds(10)) == ["kill"])
    #expect(
      told(mute.dies(begun: [1])) == [
        "ended 1 crashed: its worker was killed: it does not say whether runs that it was asked for have begun", "withdrawn 2",
        "withdrawn 3",
      ])
  }

  @Test("a run that is asked to stop when its time is over gets no more grace for it") func lateExpiration() {
    var walk = serving(runs: 1, budget: .seconds(10))
    walk.pass(.seconds(14))
    walk.handle(.expire(MachineWalk.run(1), .cancelled))
    #expect(walk.sleep(.milliseconds(1100)) == ["kill"])
    #expect(told(walk.dies(begun: [1])) == ["ended 1 forced cancelled"])
  }

  @Test("a run is forced for the limit that ended first") func limits() {
    for (budget, reason) in [(Duration.seconds(30), "budget"), (.seconds(90), "stalled")] {
      var walk = MachineWalk(budget: budget)
      walk.contract.kind = .continued
      walk.launch()
      walk.handle(.start([walk.order()]))
      #expect(walk.sleep(.seconds(100)) == ["kill"])
      #expect(told(walk.dies(begun: [1])) == ["ended 1 forced \(reason)"])
    }
  }
}
