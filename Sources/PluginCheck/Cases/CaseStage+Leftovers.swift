import HostThreads
import PluginRuntime
import TaskModel

extension CaseStage {
  /// Threads are looked at so often, and so far apart, to tell those that work from those that sleep.
  private static let looks = 12
  private static let look = Duration.milliseconds(50)
  /// How long a case goes on to see whether what grows stops growing.
  private static let longPatience = Duration.seconds(40)
  /// After how many runs what still grows is no cache.
  private static let mostRuns = 4000
  /// How many bytes may be kept meanwhile.
  private static let mostKept = 256 << 20

  func playMany() throws(End) -> String {
    try launch(concurrency: nil)
    let time = typicalTime()
    let warmUp = repeatRuns(upTo: 60, for: .milliseconds(500), time)
    var growth = ResourceGrowth(use())
    for _ in 0..<2 {
      let count = repeatRuns(upTo: 150, for: .seconds(1), atLeast: 150, time)
      growth.add(use(), runs: count)
    }
    // What grows may be a cache that fills: it stops growing.
    let end = SystemClock.now + Self.longPatience
    while growth.isSuspicious, growth.runCount < Self.mostRuns, SystemClock.now < end, growth.bytes < Self.mostKept {
      // A little in each run is told from chance by long rows alone, however busy the machine is.
      let count = repeatRuns(upTo: 1000, for: .seconds(2), atLeast: 500, until: end, time)
      growth.add(use(), runs: count)
    }
    checkMarks(after: "a run")
    for kept in growth.kept { reporter.breach(kept, HeaderRules.leak) }
    return "\(warmUp + growth.runCount + 1) runs keep nothing"
  }

  /// What the process holds, without what it keeps in the store's place and for the requests of runs that are over.
  private func use() -> ProcessUse {
    services.clear()
    ThreadLauncher.forgetReturnedRuns()
    return ProcessUse()
  }

  /// Runs in a row, every other of which expires at some moment; long ones soon, so that there are many.
  ///
  /// - Parameters:
  ///   - least: So many are made even where that takes longer: a few runs say nothing, and a busy machine is given the time for some.
  ///   - latest: When to stop with fewer runs; nil means five seconds after `patience`.
  private func repeatRuns(
    upTo count: Int, for patience: Duration, atLeast least: Int = 40, until latest: MonotonicTime? = nil, _ time: Duration
  ) -> Int {
    let isLong = time > .milliseconds(10)
    let end = SystemClock.now + patience
    var done = 0
    let latest = max(end, latest ?? end + .seconds(5))
    while done < count, SystemClock.now < (done < least ? latest : end) {
      if done % 10 == 0 { reporter.at("run \(done) of \(count) in a row") }
      guard let run = start([plan()]).first else { break }
      if isLong || done % 2 == 1 {
        Pause.wait(isLong ? .milliseconds(3) : random.part(of: time))
        expire(run, .cancelled)
      }
      finish(run)
      done += 1
    }
    checkReturns()
    return done
  }

  func playLeftBehind() throws(End) -> String {
    try launch()
    let before = ThreadList.numbers()
    for expires in [false, true] {
      reporter.at(expires ? "a run that expires, and a look at what it left" : "a run, and a look at what it left")
      guard let run = start([plan(budget: .seconds(1))]).first else { break }
      if expires {
        Pause.wait(random.part(of: .milliseconds(20)))
        expire(run, .cancelled)
      }
      finish(run)
      checkReturns()
      let extra = ThreadList.numbers().subtracting(before).subtracting(CallWatch.shared.handlerThreads).filter { !isHostThread($0) }
      for thread in workers(among: extra) {
        reporter.breach(
          "a thread of the handler's works on after it has returned: \(ThreadList.name(of: thread)) (\(thread))",
          HeaderRules.handlerThreads,
          detail: ThreadList.stack(of: thread))
      }
      let children = ProcessUse.childCount(of: ThreadList.numbers())
      if children > 0 {
        reporter.warn("the handler left \(children) child process\(children == 1 ? "" : "es") when it returned", HeaderRules.children)
      }
      let sleepers = extra.intersection(ThreadList.numbers()).filter { !ThreadList.isOfDispatch($0) }
      if !sleepers.isEmpty {
        reporter.warn(
          "the handler left \(sleepers.count) thread\(sleepers.count == 1 ? "" : "s") that sleep when it returned",
          HeaderRules.handlerThreads,
          detail: sleepers.first.map { ThreadList.stack(of: $0) } ?? "")
      }
    }
    checkMarks(after: "a run")
    return seen
  }

  /// Those of the threads that work on: that are seen to run several times, or that end only now. One that has given the run its answer
  /// and goes back to sleep is seen once.
  private func workers(among threads: Set<Int32>) -> [Int32] {
    var last: [Int32: Int] = [:]
    for thread in threads { last[thread] = ThreadList.activity(of: thread) }
    let ofDispatch = Set(threads.filter(ThreadList.isOfDispatch))
    var busy: [Int32: Int] = [:]
    for look in 1...Self.looks where !last.isEmpty {
      Pause.wait(Self.look)
      for (thread, before) in last {
        if let now = ThreadList.activity(of: thread) {
          last[thread] = now
          if now != before { busy[thread, default: 0] += 1 }
        } else {
          // One that ends at once was about to. Libdispatch's end when they have had nothing to do for a while.
          last[thread] = nil
          if look >= Self.looks / 2, !ofDispatch.contains(thread) { busy[thread] = Self.looks }
        }
      }
    }
    return busy.filter { $1 >= (ofDispatch.contains($0) ? Self.looks / 2 : 3) }.map(\.key)
  }

  /// The runtime makes deadline threads as it needs them.
  private func isHostThread(_ thread: Int32) -> Bool { ThreadList.name(of: thread) == "deadlines" }

  func playDrain() throws(End) -> String {
    try launch(concurrency: nil)
    let time = typicalTime()
    reporter.at("a run in which the host drains")
    let runs = start(Array(repeating: plan(budget: .seconds(2)), count: min(concurrency, 4)))
    Pause.wait(time / 2)
    for run in runs { expire(run, .draining) }
    for run in runs { finish(run) }
    checkReturns()
    shutDown()
    return seen
  }

  func playShutdown() throws(End) -> String {
    let plugin = try launch()
    reporter.at("a run before the shutdown")
    perform(plan(budget: .seconds(1)))
    let begin = SystemClock.now
    shutDown()
    let time = SystemClock.now - begin
    checkThreadsAfterShutdown()
    return plugin.shutdown == nil
      ? "has no shutdown hook; no thread is left" : "the hook returns in \(max(1, time.wholeMilliseconds)) ms; no thread is left"
  }

  private func checkThreadsAfterShutdown() {
    reporter.at("looking for threads after the shutdown")
    func left() -> Set<Int32> {
      ThreadList.numbers().subtracting(threadsBefore).subtracting(CallWatch.shared.handlerThreads)
    }
    // The end of a thread cannot be waited for by its number alone: it is looked at again for a while.
    let end = SystemClock.now + .seconds(1)
    while left().contains(where: { !ThreadList.isOfDispatch($0) }), SystemClock.now < end { Pause.wait(.milliseconds(20)) }
    let remaining = left()
    let hosts = remaining.filter(isHostThread)
    let busy = Set(workers(among: remaining))
    for thread in busy.union(hosts).sorted() {
      let what =
        hosts.contains(thread)
        ? "its expiration handler has not returned" : "a thread of the plugin's works on: \(ThreadList.name(of: thread)) (\(thread))"
      reporter.breach("after the shutdown \(what)", HeaderRules.shutdownThreads, detail: ThreadList.stack(of: thread))
    }
    // The runtimes of some languages keep threads that they cannot end; asleep, they end with the process.
    let sleepers = remaining.subtracting(busy).subtracting(hosts).filter { !ThreadList.isOfDispatch($0) }
    guard let first = sleepers.min() else { return }
    reporter.remark(
      "after the shutdown the plugin has \(sleepers.count) thread\(sleepers.count == 1 ? "" : "s") left, asleep",
      HeaderRules.shutdownThreads, detail: ThreadList.stack(of: first))
  }
}
