import HostThreads
import RecordJSON
import StrictText
import TaskFilters
import TaskModel

/// Transfers: the requests of the plugin that carries them out, with what their payloads and reports say.
extension ControlResponder {
  /// Each transfer of a list is read with its payload and its last run.
  private static let listLimit = 1000
  static let transferPreset = 20

  /// `GET /v1/transfers?state=running&tag=T&limit=20&after=CURSOR`, newest first.
  func listTransfers(_ parameters: QueryParameters) async throws -> ControlResponse {
    var filter = "identifier:\(TaskIdentifier.transfers)"
    let states = try parameters.stateNames(or: RequestFilter.paused)
    if !states.isEmpty { filter += " state:\(states.joined(separator: ","))" }
    if let tag = try parameters.one("tag") { filter += " tag:\(RequestFilter.quoted(tag))" }
    let limit = min(Self.listLimit, try parameters.limit(preset: Self.transferPreset))
    let wanted: RequestFilter
    do { wanted = try RequestFilter(filter, now: SystemClock().wallTime) } catch { throw error.refusal(field: "tag") }
    let cursor = parameters.cursor(of: .transfers)
    let found = try await host.requests(matching: wanted, after: try cursor.read(parameters.one("after")), limit: limit)
    var transfers: [TransferState] = []
    for record in found.records {
      // One that was removed meanwhile is left out.
      guard let whole = try? await host.request(record.id), !TransferCheck.isSweep(whole.request.payload) else { continue }
      transfers.append(try await state(of: whole))
    }
    return list("transfers", transfers, next: cursor.text(after: found.next), gap: await host.listGap()) {
      $0.transfer($1, isWhole: false)
    }
  }

  /// `state` of a list of transfers.
  static let transferState = QueryParameter(
    "state", "Only those in one of these states, or paused.", .array(.choice([.named(.requestState), .names([RequestFilter.paused])])))

  /// `GET /v1/transfers/ID`
  func showTransfer(_ id: RequestID) async throws -> ControlResponse {
    one(try await state(of: transfer(id))) { $0.transfer($1, isWhole: true) }
  }

  /// `POST /v1/transfers/ID/pause` with `{"why": …}` or nothing.
  func pauseTransfer(_ id: RequestID, _ request: ControlRequest) async throws -> ControlResponse {
    let reason = try SchedulingReader.reason(in: request.body)
    let pause = RequestPause(by: await request.principal.name(), since: SystemClock().wallTime, reason: reason)
    try pause.check()
    _ = try await transfer(id)
    return try await one(host.pause(id, pause)) { $0.request($1) }
  }

  /// A transfer with its payload. Refused if the request is not one.
  func transfer(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    let record = try await host.request(id)
    guard record.request.identifier == .transfers else {
      throw RequestRefusal(
        .notFound, "request \(id) is of \(record.request.identifier), not a transfer: see /v1/requests/\(id)", field: "id")
    }
    return record
  }

  func state(of record: RequestRecord) async throws -> TransferState {
    var query = RunQuery()
    query.request = record.id
    query.limit = 1
    guard let last = try await host.runs(query).records.first else { return TransferState(record: record, run: nil) }
    // Lists of runs come without outputs.
    return TransferState(record: record, run: (try? await host.run(last.id)) ?? last)
  }
}
