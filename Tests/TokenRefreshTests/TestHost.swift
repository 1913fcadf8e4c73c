import Foundation
import Logging
import Synchronization

@testable import TokenRefresh

/// A host of one test: its clock stands still, what is logged and stored is kept.
final class TestHost: RefreshHost {
  struct Record: Sendable {
    var log: [String] = []
    var state: [String: [UInt8]] = [:]
    var progress: [[Int]] = []
    var events: [String] = []
    var payloads: [RaisedPayload] = []
    var now: Date
    var stateIsBroken = false
  }

  /// 2026-01-01T00:00:00Z
  static let start = Date(timeIntervalSince1970: 1_767_225_600)

  private let record = Mutex(Record(now: start))
  let remaining: Duration
  let grace: Duration
  private let observe: @Sendable (String) -> Void

  /// - Parameter observe: Called at each call of the refresher, with what it is.
  init(remaining: Duration = .seconds(30), grace: Duration = .seconds(5), observe: @escaping @Sendable (String) -> Void = { _ in }) {
    self.remaining = remaining
    self.grace = grace
    self.observe = observe
  }

  var now: Date { record.withLock { $0.now } }
  var log: [String] { record.withLock { $0.log } }
  var progress: [[Int]] { record.withLock { $0.progress } }

  var state: [String: [UInt8]] { record.withLock { $0.state } }
  /// The state without what was seen of token files: what runs must know of failures.
  var records: [String: [UInt8]] { state.filter { $0.key.hasPrefix("account/") } }

  /// From now on the state cannot be read or written.
  func breakState() { record.withLock { $0.stateIsBroken = true } }

  func advance(by seconds: TimeInterval) {
    record.withLock { $0.now += seconds }
  }

  func log(_ level: Logger.Level, _ message: String) {
    observe("log")
    record.withLock { $0.log.append("\(level): \(message)") }
  }

  /// The names of the events that were raised, without their common first word, each with the account.
  var events: [String] { record.withLock { $0.events } }
  var payloads: [RaisedPayload] { record.withLock { $0.payloads } }

  func raise(_ event: RefreshEvent, _ payload: RaisedPayload) throws {
    observe("event")
    try record.withLock {
      if $0.stateIsBroken { throw Broken() }
      $0.events.append("\(event.rawValue.dropFirst("token-refresh.".count)) \(payload.account)")
      $0.payloads.append(payload)
    }
  }

  func progress(_ completed: Int, of total: Int) {
    record.withLock { $0.progress.append([completed, total]) }
  }

  func state(_ key: String) throws -> [UInt8]? {
    try record.withLock {
      if $0.stateIsBroken { throw Broken() }
      return $0.state[key]
    }
  }

  func setState(_ key: String, _ value: [UInt8]?) throws {
    observe("state")
    try record.withLock {
      if $0.stateIsBroken { throw Broken() }
      $0.state[key] = value
    }
  }

  struct Broken: Error {}
}
