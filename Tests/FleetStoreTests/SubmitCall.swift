import HostThreads
import MemoryStore
import TaskModel
import TaskScheduler
import TaskStore

@testable import FleetStore

/// A call of `taskhost.submit` with the fields of a request, and what it wrote.
struct SubmitCall {
  var arguments: [String] = []
  var values: [PostgresValue] = []

  init(_ identifier: String) { add("identifier", .text(identifier)) }

  mutating func add(_ name: String, _ value: PostgresValue, as type: String? = nil) {
    values.append(value)
    arguments.append("\(name) => $\(values.count)" + (type.map { "::text::\($0)" } ?? ""))
  }

  var statement: PostgresStatement {
    PostgresStatement("SELECT taskhost.submit(\(arguments.joined(separator: ", ")))") { [values] in values }
  }

  /// The call that says what the request says.
  init(_ request: TaskRequest) {
    self.init(request.identifier.rawValue)
    if !request.payload.isEmpty { add("payload_bytes", .bytes(request.payload)) }
    if let delay = request.delay { add("delay_ms", .int(delay.wholeMilliseconds)) }
    if let begin = request.earliestBegin { addTime("earliest_begin", begin) }
    if let deadline = request.deadline { addTime("deadline", deadline) }
    if request.priority != 0 { add("priority", .int(Int64(request.priority)), as: "integer") }
    if !request.conditions.isEmpty { add("conditions", .texts(request.conditions.names.reversed())) }
    if let policy = request.onLostCondition { add("on_lost_condition", .text(policy.rawValue)) }
    if let window = request.gates.window { add("\"window\"", .text(window)) }
    if let key = request.gates.concurrencyKey { add("concurrency_key", .text(key)) }
    if !request.gates.resources.isEmpty {
      let members = request.gates.resources.map { "\"\($0.key)\": \($0.value)" }
      add("resources", .text("{\(members.joined(separator: ", "))}"), as: "jsonb")
    }
    if let prefer = request.gates.prefer { add("prefer", .text(prefer)) }
    if request.gates.flex != .zero { add("flex_ms", .int(request.gates.flex.wholeMilliseconds)) }
    if request.gates.wakes { add("wake", .text("true"), as: "boolean") }
    if let key = request.uniqueKey { add("unique_key", .text(key)) }
    if let key = request.idempotencyKey { add("idempotency_key", .text(key)) }
    if let retry = request.retry {
      add(
        "retry",
        .text(
          """
          {"attempts": \(retry.attempts), "backoff": "\(retry.backoff.rawValue)", "initial_ms": \(retry.initial.wholeMilliseconds), \
          "maximum_ms": \(retry.maximum.wholeMilliseconds)}
          """), as: "jsonb")
    }
    if !request.tags.isEmpty { add("tags", .texts(request.tags)) }
    if let parent = request.traceparent { add("traceparent", .text(parent.description)) }
  }

  private mutating func addTime(_ name: String, _ time: WallTime) {
    values.append(.int(time.unixMilliseconds))
    let number = "$\(values.count)"
    arguments.append("\(name) => timestamptz 'epoch' + \(number) / 1000 * interval '1 s' + \(number) % 1000 * interval '1 ms'")
  }
}

/// What stands in the table of requests.
struct StoredRow {
  let lane: Int64
  let due: Int64
  let rank: Int64
  let text: [UInt8]
  let record: RequestRecord
  let deadline: Int64
  let key: String?
}

extension FleetSession {
  /// Calls `taskhost.submit`, and returns the text that it returned.
  func submit(_ call: SubmitCall) throws -> String { try ask(call.statement).text(0, 0) ?? "NULL" }

  func row(_ id: RequestID) throws -> StoredRow {
    let rows = try ask(
      PostgresStatement(
        "SELECT lane, due, rank, payload, record, unique_key, deadline FROM taskhost.request WHERE id = $1", .int(id.sequence)))
    let text = rows.bytes(0, 4) ?? []
    let read = try RecordText.request(text, id: id, payload: rows.bytes(0, 3) ?? [])
    return StoredRow(
      lane: rows.int(0, 0) ?? 0, due: rows.int(0, 1) ?? 0, rank: rows.int(0, 2) ?? 0, text: text, record: read,
      deadline: rows.int(0, 6) ?? 0, key: rows.text(0, 5))
  }
}

/// A scheduler that drafts requests for a fleet as a host does, and runs nothing.
final class Drafter: Sendable {
  private let scheduler: Scheduler
  private let fleet: UInt64

  private struct Nobody: Launcher {
    func start(_ orders: [RunOrder]) {}
    func withdraw(_ runs: [RunID]) {}
    func expire(_ run: RunID, reason: StopReason) {}
    func force(_ run: RunID, reason: StopReason) {}
    func shutdown() -> Int { 0 }
  }

  init(fleet: UInt64, resources: [String: Int] = [:]) throws {
    self.fleet = fleet
    var policy = SchedulingPolicy()
    policy.parksUnregistered = true
    policy.resources = resources
    scheduler = try Scheduler(policy: policy, store: MemoryRequestStore(origin: 1), clock: SystemClock(), fleet: fleet)
    _ = try scheduler.start(Nobody(), contracts: [], schedules: [:])
  }

  deinit { scheduler.stop() }

  /// Checks a request, and completes it.
  func draft(_ request: TaskRequest) -> Result<RequestRecord, RequestRefusal> {
    let answer = Awaited<Result<[FleetSubmission], RequestRefusal>>()
    scheduler.draft([request], fleet: fleet) { answer.set($0) }
    return answer.wait().flatMap { $0.first.map { .success($0.record) } ?? .failure(RequestRefusal(.internal, "no draft")) }
  }
}
