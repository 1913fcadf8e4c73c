import TestSupport
import CTaskHost
import Foundation
import Synchronization

/// One run of an app on a thread of its own, and what it told the host.
///
/// `@unchecked Sendable`: mutable state is behind `condition`; the C strings and the payload live as long as this object.
final class FakeRun: @unchecked Sendable {
  let handle = FakeTable.newHandle()
  let host: FakeHost
  let payload: [UInt8]
  let payloadStart: UnsafeMutablePointer<UInt8>

  private let condition = NSCondition()
  private var expiration: (handler: taskhost_expiration_handler, context: UnsafeMutableRawPointer?)?
  private var reason: Int?
  private var callers = 0
  private var wasCalled = false
  private var stale = false
  private var record = Record()
  private let ended = Event()
  /// Set when the app has written a line to the run's log.
  let hasLogged = Event()

  /// What the run left behind.
  struct Record: Sendable {
    var result: Int?
    var message: String?
    var progress: [[UInt64]] = []
    var log: [FakeLogLine] = []
    /// Whether the expiration handler was withdrawn, or never taken, before the handler returned.
    var isCleared = false
  }

  init(host: FakeHost, identifier: String, payload: [UInt8]) {
    self.host = host
    self.payload = payload
    payloadStart = .allocate(capacity: payload.count + 1)
    payloadStart.initialize(repeating: 0, count: payload.count + 1)
    payloadStart.update(from: payload, count: payload.count)
  }

  deinit { payloadStart.deallocate() }

  /// Calls the handler on a thread of its own.
  func start(_ handler: taskhost_handler, _ context: UnsafeMutableRawPointer?) {
    FakeTable.runs.withLock { $0[handle] = self }
    // The context is the plugin's, which keeps it for the life of the process.
    nonisolated(unsafe) let context = context
    Thread.detachNewThread { [self] in
      let result = handler(handle, context)
      condition.withLock {
        record.result = Int(result)
        record.isCleared = expiration == nil
        stale = true
        if reason != nil, host.grace > 0 { FakeTable.graced.withLock { $0[handle] = self } }
      }
      _ = FakeTable.runs.withLock { $0.removeValue(forKey: handle) }
      FakeTable.ended.withLock { $0[handle] = host }
      ended.set()
    }
  }

  /// Waits until the handler has returned.
  func end() async -> Record {
    await ended.wait()
    return condition.withLock { record }
  }

  /// What the run has told so far.
  var soFar: Record { condition.withLock { record } }

  /// Expires the run, calling the expiration handler on a thread of its own.
  ///
  /// - Parameter waits: Whether to return only when that call has.
  func expire(_ reason: Int = TASKHOST_STOP_BUDGET, waits: Bool = true) {
    condition.lock()
    defer { condition.unlock() }
    guard self.reason == nil else { return }
    self.reason = reason
    guard let expiration else { return }
    wasCalled = true
    callers += 1
    let handler = expiration.handler
    nonisolated(unsafe) let context = expiration.context  // the plugin's; the contract says it stays valid until cleared
    Thread.detachNewThread { [self] in
      handler(handle, taskhost_stop_reason(reason), context)
      condition.withLock {
        callers -= 1
        condition.broadcast()
      }
    }
    while waits, callers > 0 { condition.wait() }
  }

  /// Its grace is over: the host takes nothing of it any more.
  func endGrace() { FakeTable.graced.withLock { _ = $0.removeValue(forKey: handle) } }

  /// Gives the run up, as after grace: its handle is stale from now on though its handler has not returned.
  func force() { condition.withLock { stale = true } }

  // What the table calls.

  func change(_ body: (inout Record) -> Void) { condition.withLock { body(&record) } }
  var isStale: Bool { condition.withLock { stale } }
  var stopReason: Int { condition.withLock { reason ?? TASKHOST_STOP_NONE } }
  var graceLeft: Int64 { host.grace }

  func setExpirationHandler(_ handler: taskhost_expiration_handler?, _ context: UnsafeMutableRawPointer?) -> Int {
    condition.lock()
    defer { condition.unlock() }
    guard let handler else {
      while callers > 0 { condition.wait() }
      expiration = nil
      return wasCalled ? TASKHOST_EEXPIRED : TASKHOST_OK
    }
    guard reason == nil else { return TASKHOST_EEXPIRED }
    expiration = (handler, context)
    return TASKHOST_OK
  }
}
