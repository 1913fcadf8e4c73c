import CTaskHost
import Foundation
import Synchronization

@testable import TaskHostSDK

/// A host in this process: just enough of the contract to launch a plugin and run it on real threads.
///
/// Each has a table of its own, so plugins launched in different tests do not meet. `@unchecked Sendable`: mutable state is behind `lock`,
/// and `table` is written before anyone else sees it.
final class FakeHost: @unchecked Sendable {
  /// The table as plugins get it; as the contract says, it is never freed.
  let api: UnsafePointer<taskhost_api>
  let dataDirectory: String

  private let lock = NSLock()
  private var registrations: [Registered] = []
  private var launchLines: [FakeLogLine] = []
  private var held: [FakeRequest] = []
  private let settings: UnsafeMutablePointer<CChar>
  private let directoryText: UnsafeMutablePointer<CChar>
  private var values: [String: [UInt8]] = [:]
  private var submitted: [FakeRequest] = []

  /// What a plugin registered.
  struct Registered {
    let identifier: String
    let kind: taskhost_kind
    let budgetMilliseconds: UInt64
    let maxConcurrentRuns: UInt32
    let displayName: String?
    let version: String?
    let handler: taskhost_handler
    let context: UnsafeMutableRawPointer?
  }

  init(settings: String = "{}", change: (inout taskhost_api) -> Void = { _ in }) {
    let table = UnsafeMutablePointer<taskhost_api>.allocate(capacity: 1)
    table.initialize(to: FakeTable.make())
    change(&table.pointee)
    api = UnsafePointer(table)
    dataDirectory = "/nowhere/\(UInt(bitPattern: table))"
    directoryText = dataDirectory.withCString { strdup($0) }
    self.settings = settings.withCString { strdup($0) }
  }

  deinit {
    free(directoryText)
    free(self.settings)
  }

  /// Launches a plugin as the host does, and answers its status.
  func launch<Plugin: BackgroundTask>(_ plugin: Plugin.Type) -> taskhost_status {
    FakeTable.clearLastError()
    let handle = FakeTable.newHandle()
    FakeTable.launches.withLock { $0[handle] = self }
    defer { FakeTable.launches.withLock { $0[handle] = nil } }
    return TaskHostPlugin.launch(plugin, api, handle)
  }

  /// Starts a run of what was registered last, on a thread of its own.
  func start(payload: String = "", attempt: UInt32 = 1, expired: taskhost_stop_reason? = nil) throws -> FakeRun {
    struct NothingRegistered: Error {}
    guard let registered = lastRegistration else { throw NothingRegistered() }
    let run = FakeRun(host: self, identifier: registered.identifier, payload: Array(payload.utf8), attempt: attempt)
    if let expired { run.expire(expired) }
    run.start(registered.handler, registered.context)
    return run
  }

  var lastRegistration: Registered? { lock.withLock { registrations.last } }
  var allRegistrations: [Registered] { lock.withLock { registrations } }
  var launchLog: [FakeLogLine] { lock.withLock { launchLines } }
  var heldRequests: [FakeRequest] { lock.withLock { held } }
  var requests: [FakeRequest] { lock.withLock { submitted } }
  var state: [String: [UInt8]] { lock.withLock { values } }

  // What the table calls.

  func register(_ registration: Registered) { lock.withLock { registrations.append(registration) } }
  func note(_ line: FakeLogLine) { lock.withLock { launchLines.append(line) } }
  func hold(_ request: FakeRequest) { lock.withLock { held.append(request) } }
  func submit(_ request: FakeRequest) { lock.withLock { submitted.append(request) } }
  func value(_ key: String) -> [UInt8]? { lock.withLock { values[key] } }
  func setValue(_ bytes: [UInt8]?, for key: String) { lock.withLock { values[key] = bytes } }
  var directory: UnsafePointer<CChar> { UnsafePointer(directoryText) }
  var settingsText: UnsafePointer<CChar> { UnsafePointer(settings) }
}
