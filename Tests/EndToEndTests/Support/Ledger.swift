import TestSupport
import Foundation
import Synchronization

/// What clients were told before a host was killed, and what must be so ever after.
final class Ledger: Sendable {
  private struct State {
    var acknowledged: Set<String> = []
    var mayBeCancelled: Set<String> = []
    var seen: Set<String> = []
    var barriers: [String: Int] = [:]
    /// Answers and successes that clients were told of.
    var told = 0
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Who waits for no more than was told by now.
    mutating func tell() -> [CheckedContinuation<Void, Never>] {
      told += 1
      let told = told
      defer { waiters.removeAll { $0.count <= told } }
      return waiters.filter { $0.count <= told }.map(\.continuation)
    }
  }

  private let state = Mutex(State())
  /// The file to which each run appends "REQUEST ATTEMPT" when it begins.
  private let notes: String

  /// - Parameter notes: The path that scripts name in `note`.
  init(notes: String) { self.notes = notes }

  /// The requests whose submission was answered.
  var acknowledged: Set<String> { state.withLock { $0.acknowledged } }
  /// The requests whose success was seen: in an answer, or in the stream.
  var succeeded: Set<String> { state.withLock { $0.seen.union($0.barriers.keys) } }

  /// The acknowledged requests that the test itself wants cancelled or replaced.
  var mayBeCancelled: Set<String> { state.withLock { $0.mayBeCancelled } }

  /// The host answered a submission.
  ///
  /// - Parameter mayBeCancelled: Whether the test cancels or replaces it later.
  func acknowledge(_ ids: [String], mayBeCancelled: Bool = false) {
    let woken = state.withLock { state in
      state.acknowledged.formUnion(ids)
      if mayBeCancelled { state.mayBeCancelled.formUnion(ids) }
      return state.tell()
    }
    for waiter in woken { waiter.resume() }
  }

  /// A run that succeeded was seen.
  func sawSuccess(of request: String) {
    let woken = state.withLock { state in
      if state.barriers[request] == nil { state.seen.insert(request) }
      return state.tell()
    }
    for waiter in woken { waiter.resume() }
  }

  /// Waits until clients were told of `count` more answers and successes; not longer than `limit`.
  func hear(_ count: Int, within limit: Duration) async {
    let late = Task {
      try await Task.sleep(for: limit)
      for waiter in state.withLock({ state in
        defer { state.waiters = [] }
        return state.waiters
      }) { waiter.continuation.resume() }
    }
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if count > 0 { state.waiters.append((state.told + count, continuation)) }
        return count <= 0
      }
      if isThere { continuation.resume() }
    }
    late.cancel()
  }

  /// The host is dead: whatever was seen to succeed by now must not begin once more.
  func close() {
    let count = lines().count
    state.withLock { state in
      for request in state.seen { state.barriers[request] = count }
      state.seen = []
    }
  }

  /// The requests that began again although their success had been seen before a host died.
  func ranAgain() -> [String] {
    let barriers = state.withLock { $0.barriers }
    return lines().enumerated().filter { line, request in barriers[request].map { line >= $0 } ?? false }.map { $0.element }
  }

  /// The requests of which a run began.
  func ran() -> Set<String> { Set(lines()) }

  private func lines() -> [String] {
    let text = (try? String(contentsOfFile: notes, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map { String($0.prefix { $0 != " " }) }
  }

  /// Notes the successes that a host tells in its stream, until the host is gone.
  ///
  /// - Returns: When the host has confirmed the subscription; the task ends with the host.
  func follow(_ socket: String) async throws -> Task<Void, Never> {
    let stream = try await onThread {
      let stream = Stream(try SocketClient(socket, limit: .seconds(60)))
      try stream.client.send("GET /v1/stream HTTP/1.1\r\nhost: x\r\n\r\n")
      _ = try stream.client.read(until: ": subscribed\n\n")
      return stream
    }
    return Task {
      try? await onThread {
        while true {
          _ = try stream.client.read(until: "event: run\ndata: ")
          let run = try JSON(parsing: try stream.client.read(until: "\n\n"))
          guard run["outcome"]?.string == "succeeded", let request = run["request"]?.string else { continue }
          self.sawSuccess(of: request)
        }
      }
    }
  }

  private final class Stream: @unchecked Sendable {  // reason: used by one thread after the other
    let client: SocketClient

    init(_ client: SocketClient) { self.client = client }
  }
}
