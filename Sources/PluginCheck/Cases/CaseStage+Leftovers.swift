import HostThreads
import PluginRuntime
import TaskModel

extension CaseStage {
  /// How long threads are looked at to tell those that work from those that sleep.
  private static let look = Duration.milliseconds(250)

  func playMany() throws(End) -> String {
    try launch(concurrency: nil)
    let time = typicalTime()
    // A long run is stopped soon, so that there are many.
    let stop = time > .milliseconds(10) ? Duration.milliseconds(3) : nil
    let warmUp = repeatRuns(upTo: 50, for: .milliseconds(500), stop)
    let first = use()
    let middleRuns = repeatRuns(upTo: 150, for: .seconds(1), stop)
    let second = use()
    let lastRuns = repeatRuns(upTo: 150, for: .seconds(1), stop)
    let third = use()
    checkMarks(after: "a run")
    compare(("descriptors", first.descriptors, second.descriptors, third.descriptors), runs: middleRuns + lastRuns, least: 3)
    compare(("threads", first.threads, second.threads, third.threads), runs: middleRuns + lastRuns, least: 3)
    // Both parts must grow: what is kept once is no leak.
    let growth = min((second.memory - first.memory) / max(1, middleRuns), (third.memory - second.memory) / max(1, lastRuns))
    if middleRuns >= 20, growth >= 512 {
      reporter.breach("each run keeps about \(growth) bytes of memory", HeaderRules.leak)
    }
    return "\(warmUp + middleRuns + lastRuns + 1) runs keep nothing"
  }

  /// What the process holds, without what it keeps in the store's place.
  private func use() -> ProcessUse {
    services.clear()
    return ProcessUse()
  }

  private func repeatRuns(upTo count: Int, for patience: Duration, _ stop: Duration?) -> Int {
    let end = SystemClock.now + patience
    var done = 0
    while done < count, SystemClock.now < end {
      if done % 10 == 0 { reporter.at("run \(done) of \(count) in a row") }
      guard let run = start([plan()]).first else { break }
      if let stop {
        Pause.wait(stop)
        expire(run, .cancelled)
      }
      finish(run)
      done += 1
    }
    checkReturns()
    return done
  }

  private func compare(_ use: (name: String, first: Int, second: Int, third: Int), runs: Int, least: Int) {
    guard use.second > use.first, use.third > use.second, use.third - use.first >= least else { return }
    reporter.breach("after \(runs) runs the process has \(use.third - use.first) \(use.name) more than before them", HeaderRules.leak)
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

  /// Those of the threads that run within ``look``.
  private func workers(among threads: Set<Int32>) -> [Int32] {
    let before = threads.map { ($0, ThreadList.activity(of: $0)) }
    Pause.wait(Self.look)
    return before.filter { thread, activity in
      // One that has ended meanwhile was about to end. Libdispatch's look after their pool now and then.
      guard let activity, let now = ThreadList.activity(of: thread) else { return false }
      return now - activity > (ThreadList.isOfDispatch(thread) ? 10 : 0)
    }.map(\.0)
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
    let guilty = remaining.filter { !ThreadList.isOfDispatch($0) }.union(workers(among: remaining.filter(ThreadList.isOfDispatch)))
    for thread in guilty.sorted() {
      let what =
        isHostThread(thread)
        ? "its expiration handler has not returned" : "a thread of the plugin's is left: \(ThreadList.name(of: thread)) (\(thread))"
      reporter.breach("after the shutdown \(what)", HeaderRules.shutdownThreads, detail: ThreadList.stack(of: thread))
    }
  }
}
