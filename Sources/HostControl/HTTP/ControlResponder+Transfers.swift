import HostThreads
import RecordJSON
import StrictText
import TaskModel

/// Transfers: the requests of the plugin that carries them out, with what their payloads and reports say.
extension ControlResponder {
  /// Each transfer of a list is read with its payload and its last run.
  private static let listLimit = 1000
  static let transferPreset = 20

  /// `GET /v1/transfers?state=running&tag=T&limit=20&after=ID`, newest first.
  func listTransfers(_ parameters: QueryParameters) async throws -> ControlResponse {
    var wanted = RequestQuery()
    wanted.identifier = .transfers
    wanted.states = try parameters.states(or: Self.paused)
    wanted.tag = try parameters.one("tag")
    wanted.after = try parameters.id("after", ofA: "transfer")
    wanted.limit = min(Self.listLimit, try parameters.limit(preset: Self.transferPreset))
    let found = try await parameters.all("state").contains(Self.paused) ? withPaused(wanted) : host.requests(wanted)
    var transfers: [TransferState] = []
    for record in found {
      // One that was removed meanwhile is left out.
      guard let whole = try? await host.request(record.id) else { continue }
      transfers.append(try await state(of: whole))
    }
    return list("transfers", transfers, next: found.count < wanted.limit ? nil : found.last?.id.description) {
      $0.transfer($1, isWhole: false)
    }
  }

  /// What `state` says of live transfers that somebody holds back, besides their own states.
  private static let paused = "paused"
  /// `state` of a list of transfers.
  static let transferState = QueryParameter(
    "state", "Only those in one of these states, or paused.", .array(.choice([.named(.requestState), .names([paused])])))

  /// Those in one of the states, if any is wanted, or paused. There are at most `max_pending` live ones to look at.
  private func withPaused(_ wanted: RequestQuery) async throws -> [RequestRecord] {
    var (query, found) = (wanted, [RequestRecord]())
    query.states += RequestState.allCases.filter { !$0.isFinal && !query.states.contains($0) }
    query.limit = Self.listLimit
    while true {
      let page = try await host.requests(query)
      found += page.filter { $0.paused != nil && !$0.state.isFinal || wanted.states.contains($0.state) }
      if found.count >= wanted.limit || page.count < query.limit { return Array(found.prefix(wanted.limit)) }
      query.after = page.last?.id
    }
  }

  /// `GET /v1/transfers/ID`
  func showTransfer(_ id: RequestID) async throws -> ControlResponse {
    one(try await state(of: transfer(id))) { $0.transfer($1, isWhole: true) }
  }

  /// `POST /v1/transfers/ID/pause` with `{"why": …}` or nothing.
  func pauseTransfer(_ id: RequestID, _ request: ControlRequest) async throws -> ControlResponse {
    let reason = try SchedulingReader.reason(in: request.body)
    let who = request.peer.map { "user \($0.user)" } ?? "a client of the control socket"
    let pause = RequestPause(by: who, since: SystemClock().wallTime, reason: reason)
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

  private func state(of record: RequestRecord) async throws -> TransferState {
    var query = RunQuery()
    query.request = record.id
    query.limit = 1
    guard let last = try await host.runs(query).first else { return TransferState(record: record, run: nil) }
    // Lists of runs come without outputs.
    return TransferState(record: record, run: (try? await host.run(last.id)) ?? last)
  }
}
