import HostThreads
import StoreTestSupport
import TaskModel
import TaskScheduler
import TaskStore
import Testing

/// A scheduler on its thread, with a real store, the machine's clocks and a launcher that runs nothing.
final class ScheduledHost: Sendable {
  let store: FailingStore
  let scheduler: Scheduler
  let launcher: RecordingLauncher
  /// What the scheduler told its host.
  let notices: AsyncStream<Scheduler.Notice>
  /// The runs whose ends it could not record.
  let unrecorded: AsyncStream<RunID>
  private let directory: TemporaryDirectory

  init(
    _ policy: SchedulingPolicy = SchedulingPolicy(), handlers: [HandlerContract] = [.sample()], ending: RunEnding? = nil,
    rejection: @escaping @Sendable ([UInt8], TaskIdentifier) -> String? = { _, _ in nil }
  ) throws {
    directory = try TemporaryDirectory()
    store = FailingStore(try SQLiteRequestStore(path: directory.file("requests.sqlite")))
    launcher = RecordingLauncher(ending: ending)
    let (notices, noticed) = AsyncStream<Scheduler.Notice>.makeStream()
    self.notices = notices
    let (unrecorded, lost) = AsyncStream<RunID>.makeStream()
    self.unrecorded = unrecorded
    scheduler = try Scheduler(policy: policy, store: store, clock: SystemClock()) { lost.yield($0) }
    launcher.report { [weak scheduler] in scheduler?.receive($0) }
    _ = try scheduler.start(launcher, contracts: handlers, schedules: [:], rejection: rejection) { noticed.yield($0) }
  }

  deinit {
    scheduler.stop()
    store.close()
  }

  @discardableResult func submit(_ requests: TaskRequest...) async throws -> [Submission] {
    try await withCheckedThrowingContinuation { done in scheduler.perform(.submit(requests)) { done.resume(with: $0) } }
  }

  @discardableResult func cancel(_ id: RequestID) async throws -> RequestRecord {
    try await withCheckedThrowingContinuation { done in scheduler.perform(.cancel(id)) { done.resume(with: $0) } }
  }

  func drain(_ timeout: Duration) async {
    await withCheckedContinuation { done in scheduler.drain(timeout: timeout) { done.resume() } }
  }

  /// Tells the scheduler to drain, now; the stream ends when it has.
  func beginDrain(_ timeout: Duration) -> AsyncStream<Void> {
    let (drained, done) = AsyncStream<Void>.makeStream()
    scheduler.drain(timeout: timeout) { done.finish() }
    return drained
  }

  func afterTurn() async {
    await withCheckedContinuation { done in scheduler.afterTurn { done.resume() } }
  }

  func liveRuns() async -> [LiveRunEntry] {
    await withCheckedContinuation { done in scheduler.liveRuns { done.resume(returning: $0) } }
  }

  /// The next run that is begun.
  func nextOrder() async throws -> RunOrder {
    for await order in launcher.orders { return order }
    throw CancellationError()
  }

  /// What the launcher is told next besides runs to begin.
  func nextCall() async throws -> RecordingLauncher.Call {
    for await call in launcher.calls { return call }
    throw CancellationError()
  }

  /// The next `count` runs that were recorded as ended.
  @discardableResult func ended(_ count: Int = 1) async -> [RunRecord] {
    var records: [RunRecord] = []
    for await notice in notices {
      if case .ended(let record) = notice { records.append(record) }
      if records.count == count { break }
    }
    return records
  }

  /// A request as stored.
  func record(_ id: RequestID) throws -> RequestRecord { try #require(try store.request(id)) }
}
