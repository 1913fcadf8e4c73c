import TaskHostClient

/// The host's answers for one look of `taskhost top`: its status, and the rows of the shown table.
struct TopReading: Sendable {
  /// What is shown.
  struct Wanted: Sendable {
    let view: TopView
    let filter: String
  }

  let header: TopHeader
  private let status: StatusAnswer
  private let runs: [RunAnswer]?
  private let requests: [RequestAnswer]?

  static func read(_ wanted: Wanted, _ client: ControlClient) async throws -> TopReading {
    let answer = try await client.get("/v1/status")
    let query = [("filter", wanted.filter.isEmpty ? nil : wanted.filter), ("limit", "\(TopSession.rows)")]
    return TopReading(
      header: try answer.read(), status: try answer.read(),
      runs: wanted.view == .runs ? try await client.get(ControlClient.path("/v1/runs", query)).read(RunPage.self).runs : nil,
      requests: wanted.view == .requests
        ? try await client.get(ControlClient.path("/v1/requests", query)).read(RequestPage.self).requests : nil)
  }

  func apply(to state: inout TopState, now: Int64) {
    state.header = header
    state.take(TopRows.tasks(status, now: now), of: .tasks)
    state.take(TopRows.problems(status.problems, now: now), of: .problems)
    if let runs { state.take(TopRows.runs(runs, now: now), of: .runs) }
    if let requests { state.take(TopRows.requests(requests, now: now), of: .requests) }
  }
}
