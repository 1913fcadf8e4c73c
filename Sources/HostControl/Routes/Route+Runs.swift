import NIOHTTP1
import RecordJSON
import TaskModel

/// Runs and the stream of events.
extension Route {
  static let runs: [Route] = [
    Route(
      .GET, "/v1/runs", "listRuns", "Lists runs: live ones first, then newest first", role: .read,
      query: [.filter, .identifier, .request, .outcome, .since, .until, .limit(ControlResponder.listPreset), .after],
      answers: .page("runs", of: .run, idOf: "/v1/runs/{")
    ) { try await $0.listRuns($1.query) },
    Route(.GET, "/v1/runs/{id}", .run, "showRun", "Shows a run with its output", role: .read, answers: .json(.named(.run))) {
      responder, id, _ in try await responder.one(responder.host.run(id)) { $0.run($1) }
    },
    Route(
      .GET, "/v1/runs/{id}/logs", .run, "showRunLog", "Shows the last lines of a run's log", role: .read,
      answers: .json(.named(.runLog))
    ) { responder, id, _ in try await responder.logs(of: id) },
    Route(
      .GET, "/v1/stream", "streamEvents", "Sends events as they happen, as server-sent events", role: .read, query: [.request],
      answers: .text("text/event-stream")
    ) { try await $0.stream($1) },
  ]
}
