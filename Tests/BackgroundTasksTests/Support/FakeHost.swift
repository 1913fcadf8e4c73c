import CTaskHost
import Foundation
import Synchronization

@testable import BackgroundTasks

/// A host in this process: just enough of the contract, with its extension, to launch an app and run it on real threads.
///
/// `@unchecked Sendable`: mutable state is behind `lock`, and `api` is written before anyone else sees it.
final class FakeHost: @unchecked Sendable {
  /// The table as plugins get it; as the contract says, it is never freed.
  let api: UnsafePointer<taskhost_api>
  /// The app's scheduler, apart from those of other tests.
  let scheduler: BGTaskScheduler
  /// The tokens of the operator's resource `gpu`.
  let graphicsProcessors: UInt64

  private let lock = NSLock()
  private var registrations: [Registered] = []
  private var lines: [FakeLogLine] = []
  private var waiting: [FakeRequest] = []
  private var held: [@Sendable (FakeHost) -> Void] = []
  private var values: [String: [UInt8]] = [:]
  private var count = 0
  private var failures: [String: Int] = [:]
  private var startDelay: Int64 = 0
  private var late: [String] = []
  private var graceTime: Int64 = 0
  private var isWithoutPace = false

  /// What an app registered.
  struct Registered {
    let identifier: String
    let kind: Int
    let maxConcurrentRuns: Int
    let handler: taskhost_handler
    let context: UnsafeMutableRawPointer?
  }

  /// - Parameter timing: The scheduler's times; by default completed runs stay for no successor, and a launch waits long for completion
  ///   handlers: other tests may have all threads of Dispatch.
  init(
    timing: Timing = Timing(successor: .zero, launchQuiet: .zero, launchLimit: .seconds(60)), graphicsProcessors: UInt64 = 0,
    change: (inout taskhost_api) -> Void = { _ in }
  ) {
    self.graphicsProcessors = graphicsProcessors
    let table = UnsafeMutablePointer<taskhost_api>.allocate(capacity: 1)
    table.initialize(to: FakeTable.make())
    change(&table.pointee)
    api = UnsafePointer(table)
    scheduler = BGTaskScheduler(SchedulerCore(timing: timing))
  }

  // MARK: What the host does

  /// Launches an app as the host does; what it held is carried out when the launch has succeeded.
  @discardableResult
  func launch(hints: [String: BackgroundTasksPlugin.Kind] = [:], _ body: (BGTaskScheduler) -> Void) -> Int {
    launch { scheduler.core.launch(api, $0, hints: hints) { body(scheduler) } }
  }

  /// Launches a scene.
  @discardableResult
  func launch(_ scene: PluginScene) -> Int { launch { scheduler.core.launch(api, $0, scene.actions) } }

  /// Launches an app.
  @discardableResult
  func launch<A: App & SendableMetatype>(_ app: A.Type) -> Int {
    launch { scheduler.core.launch(api, $0, BackgroundTasksPlugin.callOnMainActor { app.init().body.allActions }) }
  }

  private func launch(_ call: (taskhost_launch) -> taskhost_status) -> Int {
    let handle = FakeTable.newHandle()
    FakeTable.launches.withLock { $0[handle] = self }
    let status = call(handle)
    FakeTable.launches.withLock { $0[handle] = nil }
    FakeTable.ended.withLock { $0[handle] = self }
    let held = lock.withLock {
      defer { self.held = [] }
      return self.held
    }
    if status == taskhost_status(TASKHOST_OK) { for change in held { change(self) } }
    return Int(status)
  }

  /// Starts a run on a thread of its own.
  func start(_ identifier: String, payload: String = "", expired: Int? = nil) throws -> FakeRun {
    let registered = lock.withLock { registrations.last { $0.identifier == identifier } }
    guard let registered else { throw NothingThere(what: "handler of \(identifier)") }
    let run = FakeRun(host: self, identifier: identifier, payload: Array(payload.utf8))
    if let expired { run.expire(expired) }
    run.start(registered.handler, registered.context)
    return run
  }

  /// Starts the run of the pending request of an identifier.
  func startPending(_ identifier: String) throws -> FakeRun {
    let request = lock.withLock {
      waiting.firstIndex { $0.identifier == identifier }.map { waiting.remove(at: $0) }
    }
    guard let request else { throw NothingThere(what: "pending request of \(identifier)") }
    return try start(identifier, payload: request.text)
  }

  /// Why a test cannot go on.
  struct NothingThere: Error { let what: String }

  /// Has a function of the table answer `status` from now on, `nil`: work again.
  func fail(_ function: String, with status: Int?) { lock.withLock { failures[function] = status } }
  /// From now on it takes no negative time, as hosts of before.
  func knowsNoPace() { lock.withLock { isWithoutPace = true } }
  var hasPace: Bool { lock.withLock { !isWithoutPace } }
  /// Has submissions answer that they start so many milliseconds later.
  func delayStarts(by milliseconds: Int64) { lock.withLock { startDelay = milliseconds } }

  /// What a run has left of its grace, in milliseconds; also for how long the host takes submissions of one that has ended.
  var grace: Int64 {
    get { lock.withLock { graceTime } }
    set { lock.withLock { graceTime = newValue } }
  }

  /// The calls with the handle of a launch or run that is over, which the contract forbids.
  var lateCalls: [String] { lock.withLock { late } }
  func noteLateCall(_ function: String) { lock.withLock { late.append(function) } }

  var registered: [Registered] { lock.withLock { registrations } }
  var log: [FakeLogLine] { lock.withLock { lines } }
  var pending: [FakeRequest] { lock.withLock { waiting } }
  var state: [String: [UInt8]] { lock.withLock { values } }
  func wait(_ request: FakeRequest) { lock.withLock { waiting.append(request) } }

  // MARK: What the table calls

  func status(of function: String) -> Int? { lock.withLock { failures[function] } }
  var delay: Int64 { lock.withLock { startDelay } }
  func register(_ registration: Registered) { lock.withLock { registrations.append(registration) } }
  func note(_ line: FakeLogLine) { lock.withLock { lines.append(line) } }
  func hold(_ change: @escaping @Sendable (FakeHost) -> Void) { lock.withLock { held.append(change) } }
  func setState(_ bytes: [UInt8]?, for key: String) { lock.withLock { values[key] = bytes } }

  func submit(_ request: taskhost_request) -> FakeRequest {
    lock.withLock {
      count += 1
      let request = FakeRequest(id: "request-\(count)", request)
      waiting.append(request)
      return request
    }
  }

  /// Cancels pending requests; `nil`: all. Answers how many.
  func cancel(_ identifier: String?) -> Int {
    lock.withLock {
      let before = waiting.count
      waiting.removeAll { identifier == nil || $0.identifier == identifier }
      return before - waiting.count
    }
  }

  /// Cancels one request; false: there is none.
  func cancel(id: String) -> Bool {
    lock.withLock {
      guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
      waiting.remove(at: index)
      return true
    }
  }
}
