import NIOHTTP1
import RecordJSON
import StrictText
import TaskModel

/// Plugins, and tests of their handlers.
extension Route {
  static let plugins: [Route] = [
    Route(.GET, "/v1/plugins", "listPlugins", "Lists plugin files and commands", role: .read, answers: .page("plugins", of: .plugin)) {
      responder, _ in responder.list("plugins", await responder.host.plugins()) { $0.plugin($1) }
    },
    Route(
      .POST, "/v1/plugins/{identifier}/release", .identifier, "releasePlugin", "Lets a held or quarantined plugin run again",
      role: .operate, answers: .json(.named(.pluginRelease))
    ) { responder, identifier, _ in try await responder.one(responder.host.release(identifier)) { $0.release(identifier, $1) } },
    Route(
      .POST, "/v1/plugins/{identifier}/debug", .identifier, "debugPlugin", "Suspends a plugin's budgets until a debugger ends",
      role: .operate, body: RouteBody(DebugReader.schema), answers: .json(.object(.must("worker_process_id", .count)))
    ) { responder, identifier, call in
      let process = try await responder.host.debug(identifier, by: DebugReader.read(call.body))
      return responder.one(process) { $0.member("worker_process_id", Int64($1)) }
    },
    Route(
      .POST, "/v1/plugins/{identifier}/approve", .identifier, "approvePlugin", "Approves what a plugin waits for, and reloads",
      role: .operate, body: RouteBody(ApprovalReader.schema), answers: .json(.named(.approvalReport))
    ) { responder, identifier, call in try await responder.approve(identifier, call.request) }.ofHost(),
    Route(
      .POST, "/v1/plugins/{identifier}/revoke", .identifier, "revokePlugin", "Takes back a plugin's approval, and reloads",
      role: .operate, answers: .json(.named(.revocationReport))
    ) { responder, identifier, call in try await responder.revoke(identifier, call.request) }.ofHost(),
    Route(
      .POST, "/v1/simulate/launch", "simulateLaunch", "Runs an identifier's handler now", role: .operate,
      body: RouteBody(SchedulingReader.identifierSchema), answers: .json(.named(.request), idOf: "/v1/requests/{")
    ) { responder, call in
      let identifier = try SchedulingReader.identifier(in: call.body)
      let record = try await responder.host.simulateLaunch(identifier)
      return responder.one(record) { $0.request($1) }.about([record.id.description], of: identifier.rawValue)
    },
    Route(
      .POST, "/v1/simulate/expire", "simulateExpiration", "Expires an identifier's live runs", role: .operate,
      body: RouteBody(SchedulingReader.identifierSchema), answers: .json(.object(.must("runs", .array(.id))))
    ) { responder, call in
      let identifier = try SchedulingReader.identifier(in: call.body)
      let runs = try await responder.host.simulateExpiration(identifier)
      return responder.one(runs) { $0.member("runs", $1.map(\.description)) }.about(runs.map(\.description), of: identifier.rawValue)
    },
  ]
}
