import HostThreads
import Logging
import MemoryStore
import StoreTestSupport
import Synchronization
import TaskModel
import TaskScheduler
import Testing

@testable import TaskHost

@Suite("What launcher and scheduler tell") struct EventBroadcasterTests {
  /// Lines of a log, for a test to look at.
  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private struct LineLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    let lines: Lines

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add("\(event.level) \(event.message) \(event.metadata ?? [:])") }
  }

  /// It is given no run.
  private struct NoLauncher: Launcher {
    func start(_ orders: [RunOrder]) {}
    func withdraw(_ runs: [RunID]) {}
    func expire(_ run: RunID, reason: StopReason) {}
    func force(_ run: RunID, reason: StopReason) {}
    func shutdown() -> Int { 0 }
  }

  private let directory: TemporaryDirectory
  private let lines = Lines()
  private let scheduler: Scheduler
  private let broadcaster: EventBroadcaster
  private let run = RunReference(run: RunID(sequence: 1, origin: 7), request: RequestID(sequence: 2, origin: 7), identifier: .sample())

  init() throws {
    directory = try TemporaryDirectory()
    let lines = lines
    let log = Logger(label: "test") { _ in LineLog(lines: lines) }
    scheduler = try HostParts.scheduler(SchedulingPolicy(), MemoryRequestStore(), SystemClock(), log)
    broadcaster = EventBroadcaster(scheduler, begunRuns: try BegunRuns(directory.file("begun")), log: log)
  }

  private func line(_ message: String) -> LogLine { LogLine(time: .testStart, level: .info, message: message) }

  @Test("a line that a plugin writes while it launches is logged")
  func early() {
    broadcaster.receive(.output(run.identifier, line("hello")))
    #expect(lines.all.count == 1)
    #expect(lines.all.first?.hasPrefix("info hello") == true)
  }

  @Test("a run that ends with nobody to record it is an error in the log")
  func unheard() throws {
    _ = try scheduler.start(NoLauncher(), contracts: [], schedules: [:])
    scheduler.stop()
    scheduler.receive(.ended(run.run, .returned(.success, stop: nil), RunReport()))
    #expect(lines.all.count == 1)
    #expect(lines.all.first?.hasPrefix("error ") == true)
    #expect(lines.all.first?.contains(run.run.description) == true)
  }

  @Test("an observer is told in order, until the host ends")
  func observed() {
    let told = Lines()
    let observer = HostObserver(
      receive: { event in
        if case .log(_, let line) = event { told.add(line.message) }
      }, finish: { told.add("end") })
    broadcaster.receive(.log(run, line("before")))
    broadcaster.observe(observer)
    broadcaster.receive(.log(run, line("one")))
    broadcaster.receive(.log(run, line("two")))
    broadcaster.finish()
    broadcaster.receive(.log(run, line("after")))
    broadcaster.finish()
    #expect(told.all == ["one", "two", "end"])
  }
}
