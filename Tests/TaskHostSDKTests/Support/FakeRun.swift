import TestSupport
import CTaskHost
import Foundation
import Synchronization

/// One run of a plugin on a thread of its own, and what it told the host.
///
/// `@unchecked Sendable`: mutable state is behind `condition`; the C strings and the payload live as long as this object.
final class FakeRun: @unchecked Sendable {
  let handle = FakeTable.newHandle()
  let host: FakeHost
  let identifier: UnsafeMutablePointer<CChar>
  let requestID: UnsafeMutablePointer<CChar>
  let payload: [UInt8]
  let payloadStart: UnsafeMutablePointer<UInt8>
  let attempt: UInt32

  private let condition = NSCondition()
  private var expiration: (handler: taskhost_expiration_handler, context: UnsafeMutableRawPointer?)?
  private var reason: taskhost_stop_reason?
  private var callers = 0
  private var wasCalled = false
  private var stale = false
  private var record = Record()
  private let ended = Event()

  /// What the run left behind.
  struct Record: Sendable {
    var result: taskhost_result?
    var output: [UInt8]?
    var message: String?
    var retryAfter: UInt64?
    var checkpoint: [UInt8]?
    var progress: [[UInt64]] = []
    var log: [FakeLogLine] = []
    var cancelled: [String] = []
    /// Whether the expiration handler was withdrawn, or never taken, before the handler returned.
    var isCleared = false
    /// The handler's thread.
    var thread: UInt = 0
  }

  init(host: FakeHost, identifier: String, payload: [UInt8], attempt: UInt32) {
    self.host = host
    self.identifier = identifier.withCString { strdup($0) }
    requestID = "request-\(handle)".withCString { strdup($0) }
    self.payload = payload
    payloadStart = .allocate(capacity: payload.count + 1)
    payloadStart.initialize(repeating: 0, count: payload.count + 1)
    payloadStart.update(from: payload, count: payload.count)
    self.attempt = attempt
  }

  deinit {
    free(identifier)
    free(requestID)
    payloadStart.deallocate()
  }

  /// Calls the handler on a thread of its own.
  func start(_ handler: taskhost_handler, _ context: UnsafeMutableRawPointer?) {
    FakeTable.runs.withLock { $0[handle] = self }
    // The context is the plugin's, which keeps it for the life of the process.
    nonisolated(unsafe) let context = context
    Thread.detachNewThread { [self] in
      change { $0.thread = UInt(pthread_self()) }
      let result = handler(handle, context)
      condition.withLock {
        record.result = result
        record.isCleared = expiration == nil
        stale = true
      }
      _ = FakeTable.runs.withLock { $0.removeValue(forKey: handle) }
      ended.set()
    }
  }

  /// Waits until the handler has returned.
  func end() async -> Record {
    await ended.wait()
    return condition.withLock { record }
  }

  /// Expires the run, calling the expiration handler on a thread of its own.
  func expire(_ reason: taskhost_stop_reason = taskhost_stop_reason(TASKHOST_STOP_BUDGET)) {
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
      handler(handle, reason, context)
      condition.withLock {
        callers -= 1
        condition.broadcast()
      }
    }
  }

  /// Gives the run up, as after grace: its handle is stale from now on though its handler has not returned.
  func force() {
    condition.withLock { stale = true }
  }

  /// Makes the call to the expiration handler here and now; false when none is set.
  func callExpirationNow() -> Bool {
    guard let expiration = condition.withLock({ expiration }) else { return false }
    expiration.handler(handle, taskhost_stop_reason(TASKHOST_STOP_BUDGET), expiration.context)
    return true
  }

  // What the table calls.

  func change(_ body: (inout Record) -> Void) { condition.withLock { body(&record) } }
  func read<Value>(_ body: (Record) -> Value) -> Value { condition.withLock { body(record) } }
  var isStale: Bool { condition.withLock { stale } }
  var stopReason: taskhost_stop_reason? { condition.withLock { reason } }

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
