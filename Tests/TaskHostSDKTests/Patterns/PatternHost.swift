import CTaskHost
import Glibc
import Synchronization

@testable import TaskHostSDK

/// A ``FakeHost`` whose clock, checkpoint, disk and pending requests a test controls, and that keeps the checkpoint from run to run as if
/// all runs were of one request.
final class PatternHost: Sendable {
  /// What the test controls and sees.
  struct Script: Sendable {
    /// The host's clock, milliseconds since 1970.
    var now: Int64 = 1_700_000_000_000
    /// When the present run expires.
    var deadline: Int64 = 0
    var checkpoint: [UInt8]?
    var checkpointWrites = 0
    /// The disk is full: nothing is stored any more.
    var isFull = false
    /// Every read of the state gives other threads their turn before it answers, so that a change in two steps loses one of two.
    var isReadSlow = false
    /// Requests that hold a unique key, and every submission in its order.
    var holders: [String: Holder] = [:]
    var submissions: [Submitted] = []
  }

  struct Holder: Sendable {
    let id: String
    let due: Int64
  }

  struct Submitted: Sendable, Equatable {
    let key: String?
    let due: Int64
    let disposition: Int
    var payload = ""
  }

  let host: FakeHost
  private let script = Mutex(Script())

  init() {
    host = FakeHost { Self.change(&$0) }
    Self.hosts.withLock { $0[ObjectIdentifier(host)] = self }
  }

  func change<Result: Sendable>(_ body: (inout sending Script) -> sending Result) -> Result { script.withLock(body) }
  var now: Int64 { script.withLock { $0.now } }
  func advance(_ milliseconds: Int64) { script.withLock { $0.now += milliseconds } }

  /// One run of 30 s from beginning to end.
  func run(lasting budget: Int64 = 30_000, _ body: @escaping ClosureTask<NoPayload>.Body) async throws -> FakeRun.Record {
    script.withLock { $0.deadline = $0.now + budget }
    _ = ClosureTask<NoPayload>.launch(on: host, body)
    return await (try host.start()).end()
  }

  // MARK: The table

  private static let hosts = Mutex<[ObjectIdentifier: PatternHost]>([:])

  static func of(_ run: FakeRun) -> PatternHost? { hosts.withLock { $0[ObjectIdentifier(run.host)] } }

  private static func with(_ task: taskhost_task, _ body: (inout Script, FakeRun) -> Int) -> taskhost_status {
    FakeTable.with(task) { run in
      guard let host = of(run) else { return TASKHOST_EINTERNAL }
      return host.script.withLock { body(&$0, run) }
    }
  }

  private static func change(_ api: inout taskhost_api) {
    api.now_unix_ms = { task in FakeTable.run(task).flatMap { PatternHost.of($0)?.now } ?? 0 }
    api.remaining_ms = { task in
      guard let run = FakeTable.run(task), let host = PatternHost.of(run) else { return .min }
      return run.stopReason == nil ? host.change { $0.deadline - $0.now } : 0
    }
    api.checkpoint_get = { task, buffer, capacity, length in
      PatternHost.with(task) { script, _ in FakeTable.copy(script.checkpoint, to: buffer, capacity, length) }
    }
    api.checkpoint_set = { task, bytes, length in
      PatternHost.with(task) { script, _ in
        guard !script.isFull else { return TASKHOST_EUNAVAILABLE }
        script.checkpoint = FakeTable.bytes(bytes, length)
        script.checkpointWrites += 1
        return TASKHOST_OK
      }
    }
    api.state_get = { task, key, buffer, capacity, length in
      FakeTable.with(task) { run in
        let value = run.host.value(FakeTable.text(key))
        if PatternHost.of(run)?.change({ $0.isReadSlow }) == true {
          for _ in 0..<2_000 { sched_yield() }
        }
        return FakeTable.copy(value, to: buffer, capacity, length)
      }
    }
    api.state_set = { task, key, bytes, length in
      PatternHost.with(task) { script, run in
        guard !script.isFull else { return TASKHOST_EUNAVAILABLE }
        guard length <= 1 << 20 else { return TASKHOST_ETOOBIG }
        run.host.setValue(bytes.map { FakeTable.bytes($0, length) }, for: FakeTable.text(key))
        return TASKHOST_OK
      }
    }
    api.submit = { task, request, submission in
      guard let request = request?.pointee else { return FakeTable.answer(TASKHOST_EINVAL) }
      let copy = FakeRequest(request)
      return PatternHost.with(task) { script, _ in
        let (holder, disposition) = PatternHost.submit(copy, &script)
        submission?.pointee.disposition = UInt32(disposition)
        submission?.pointee.next_start_unix_ms = holder.due
        if let submission {
          withUnsafeMutableBytes(of: &submission.pointee.request_id) { $0.copyBytes(from: Array(holder.id.utf8) + [0]) }
        }
        return TASKHOST_OK
      }
    }
  }

  /// What a host does with unique keys, with keep and replace.
  private static func submit(_ request: FakeRequest, _ script: inout Script) -> (Holder, Int) {
    var result = (
      Holder(id: "r\(script.submissions.count)", due: max(request.earliestBegin, script.now)), TASKHOST_CREATED
    )
    if let key = request.uniqueKey {
      if let holder = script.holders[key] {
        result = request.onConflict == TASKHOST_CONFLICT_KEEP ? (holder, TASKHOST_KEPT) : (result.0, TASKHOST_REPLACED)
      }
      script.holders[key] = result.0
    }
    script.submissions.append(
      Submitted(key: request.uniqueKey, due: result.0.due, disposition: result.1, payload: request.payload))
    return result
  }
}

extension TaskContext {
  /// The run as the fake host knows it: to expire it, or to give it up, in its middle.
  var fake: FakeRun? { FakeTable.runs.withLock { $0[run.task] } }
}
