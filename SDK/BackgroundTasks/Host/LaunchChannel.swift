import CTaskHost
import Dispatch
import Synchronization
import TaskHostSDK

/// The launch in progress. The host holds its requests and carries them out after the launch has succeeded.
///
/// The host does not list these requests, so the channel keeps track of them: an app that lists its pending requests during launch sees
/// what it just submitted. Usable from any thread; makes no calls once the launch is over.
final class LaunchChannel: RequestChannel, Sendable {
  private struct Held {
    var all = false
    var identifiers: Set<String> = []
    var submitted: [ListedRequest] = []
  }

  let host: HostFunctions
  let launch: taskhost_launch
  private let held = Mutex(Held())
  private let gate = CallGate()
  /// Signalled at each submission and cancellation.
  private let changed = DispatchSemaphore(value: 0)

  init(_ host: HostFunctions, _ launch: taskhost_launch) {
    self.host = host
    self.launch = launch
  }

  /// Waits until nothing has been submitted or cancelled for `time`, because an app may submit on another queue or in a Swift task.
  ///
  /// - Parameter limit: The longest wait.
  func waitForQuiet(_ time: Duration, limit: Duration) {
    let end = DispatchTime.now() + limit.dispatchInterval
    while changed.wait(timeout: min(.now() + time.dispatchInterval, end)) == .success {}
  }

  /// Ends the launch. The handle is not used after this returns.
  func close() { gate.close() }

  private func request<Result>(_ body: () throws -> Result) throws -> Result {
    guard let result = try gate.pass(body) else { throw TaskHostError(TASKHOST_ELAUNCHED, "the launch is over") }
    return result
  }

  func pending() throws -> [ListedRequest] {
    let table = try host.requests()
    let before = try ListedRequest.Collector.collect { visit, context in
      try request { try host.check(table.pointee.launch_list(launch, visit, context)) }
    }
    return held.withLock { held in
      (held.all ? [] : before.filter { !held.identifiers.contains($0.identifier) }) + held.submitted
    }
  }

  func cancel(hostIdentifier: String, identifier: String) throws {
    let table = try host.requests()
    guard hostIdentifier == identifier else {
      // During launch, the host can cancel only all requests of a wildcard, and held requests cannot be withdrawn.
      throw TaskHostError(
        TASKHOST_EUNSUPPORTED, "\(identifier) is covered by \(hostIdentifier).*: while launching, cancel all of them")
    }
    try request { try host.check(hostIdentifier.withCString { table.pointee.launch_cancel(launch, $0) }) }
    held.withLock { held in
      held.identifiers.insert(identifier)
      held.submitted.removeAll { $0.identifier == identifier }
    }
    changed.signal()
  }

  func cancelAll() throws {
    let table = try host.requests()
    try request { try host.check(table.pointee.launch_cancel(launch, nil)) }
    held.withLock { held in
      held.all = true
      held.submitted = []
    }
    changed.signal()
  }

  /// The host carries out both, or neither, once the launch has succeeded.
  func replace(_ pending: [ListedRequest], of order: Order, submit: () throws -> Void) throws {
    if !pending.isEmpty { try cancel(hostIdentifier: order.hostIdentifier, identifier: order.identifier) }
    try submit()
  }

  func submit(_ order: Order, atOnce: Bool) throws {
    // Nobody knows whether it could begin at once; it waits at least until the launch is over.
    try request { try host.check(try order.withCValue { host.api.pointee.launch_submit(launch, $0) }) }
    held.withLock { $0.submitted.append(order.pending) }
    changed.signal()
  }

  func log(_ level: Logger.Level, _ text: String) -> Bool {
    let status = gate.pass { CStrings.printable(text).withCString { host.api.pointee.launch_log(launch, level.cValue, $0) } }
    return status == taskhost_status(TASKHOST_OK)
  }
}
