import HostThreads
import PluginRuntime
import TaskModel

extension ConformanceRun {
  /// The number of samples, and their interval, that distinguish working threads from sleeping ones.
  private static let looks = 12
  private static let look = Duration.milliseconds(50)
  /// How long a case waits for growth to stop.
  private static let longPatience = Duration.seconds(40)
  /// Something that still grows after this many runs is not a cache.
  private static let mostRuns = 4000
  /// The growth of memory in bytes at which a case stops repeating runs.
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
    // A filling cache grows too, but stops.
    let end = SystemClock.now + Self.longPatience
    while growth.isSuspicious, growth.runCount < Self.mostRuns, SystemClock.now < end, growth.bytes < Self.mostKept {
      // Only long series distinguish a small leak in each run from chance on a busy machine.
      let count = repeatRuns(upTo: 1000, for: .seconds(2), atLeast: 500, until: end, time)
      growth.add(use(), runs: count)
    }
    checkMarks(after: "a run")
    for kept in growth.kept { reporter.breach(kept, HeaderRules.leak) }
    let count = warmUp + growth.runCount + 1
    return "\(count) runs leak nothing" + (growth.judgesMemory ? "" : ", and are too few to tell whether they leak memory")
  }

  /// The resources of the process, after discarding what the host stores for past runs.
  private func use() -> ProcessUse {
    services.clear()
    ThreadLauncher.forgetReturnedRuns()
    return ProcessUse()
  }

  /// Performs consecutive runs. Every other run expires at a random moment; long runs all expire early, so that many fit.
  ///
  /// - Parameters:
  ///   - least: The minimum number of runs, even if they take longer than `patience`, because a few runs prove nothing.
  ///   - latest: When to stop even with fewer runs; nil means five seconds after `patience`.
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
          "a thread of the handler still works after the handler has returned: \(ThreadList.name(of: thread)) (\(thread))",
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
          "the handler left \(sleepers.count) thread\(sleepers.count == 1 ? "" : "s") asleep when it returned",
          HeaderRules.handlerThreads,
          detail: sleepers.first.map { ThreadList.stack(of: $0) } ?? "")
      }
    }
    checkMarks(after: "a run")
    return seen
  }

  /// The threads that still work: they run in several samples, or end late in the sampling. A thread that has delivered its result and
  /// goes back to sleep runs in one sample at most.
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
          // A thread that ends early was about to end anyway. Libdispatch's threads end after being idle for a while.
          last[thread] = nil
          if look >= Self.looks / 2, !ofDispatch.contains(thread) { busy[thread] = Self.looks }
        }
      }
    }
    return busy.filter { $1 >= (ofDispatch.contains($0) ? Self.looks / 2 : 3) }.map(\.key)
  }

  /// The runtime creates deadline threads on demand.
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
    // A thread's end cannot be awaited by its number alone, so poll for a while.
    let end = SystemClock.now + .seconds(1)
    while left().contains(where: { !ThreadList.isOfDispatch($0) }), SystemClock.now < end { Pause.wait(.milliseconds(20)) }
    let remaining = left()
    let hosts = remaining.filter(isHostThread)
    let busy = Set(workers(among: remaining))
    for thread in busy.union(hosts).sorted() {
      let what =
        hosts.contains(thread)
        ? "its expiration handler has not returned" : "a thread of the plugin still works: \(ThreadList.name(of: thread)) (\(thread))"
      reporter.breach("after the shutdown \(what)", HeaderRules.shutdownThreads, detail: ThreadList.stack(of: thread))
    }
    // The runtimes of some languages keep threads that they cannot end; sleeping threads end with the process.
    let sleepers = remaining.subtracting(busy).subtracting(hosts).filter { !ThreadList.isOfDispatch($0) }
    guard let first = sleepers.min() else { return }
    reporter.remark(
      "after the shutdown the plugin has \(sleepers.count) thread\(sleepers.count == 1 ? "" : "s") left, asleep",
      HeaderRules.shutdownThreads, detail: ThreadList.stack(of: first))
  }
}
