import NIOCore
import NIOHTTP1
import RecordJSON
import StrictText
import TaskModel

/// The host itself.
extension Route {
  /// The audit has reloads that no client asks for under the same name.
  static let reloadName = "reload"

  static let host: [Route] = [
    Route(.GET, "/v1/status", "showStatus", "Shows the host, its schedules and its problems", role: .read, answers: .json(.named(.status)))
    {
      responder, _ in responder.one(await responder.host.status()) { $0.status($1) }
    }.ofHost(),
    Route(.GET, "/v1/problems", "listProblems", "Lists what needs a person, and warnings", role: .read, answers: .json(.named(.problems))) {
      responder, _ in responder.one(await responder.host.status().problems) { $0.problems($1) }
    }.ofHost(),
    Route(
      .POST, "/v1/shutdown", "shutDown", "Starts to drain; runs end in their time", role: .operate,
      answers: .json(.object(.must("phase", .names([HostPhase.draining.rawValue]))), status: .accepted)
    ) { responder, _ in
      await responder.host.shutdown()
      return responder.one(HostPhase.draining, status: .accepted) { $0.member("phase", $1.rawValue) }
    }.ofHost(),
    Route(
      .GET, "/v1/configuration", "showConfiguration", "Shows what the host has loaded that differs from the defaults, without secrets",
      role: .operate, answers: .json(.named(.configuration))
    ) { responder, _ in responder.one(await responder.host.loadedConfiguration()) { $0.configuration($1) } }.ofHost(),
    Route(
      .POST, "/v1/reload", reloadName, "Puts configuration and plugins in force as they are now, or says what would change", role: .operate,
      body: RouteBody(ReloadReader.schema, isRequired: false), answers: .json(.named(.reloadReport))
    ) { try await $0.reload($1.request) }.ofHost(),
    Route(
      .GET, "/healthz", "showHealth", "200 while the host accepts and runs requests", role: nil,
      answers: .json(.named(.health)), .json(.named(.health), status: .serviceUnavailable)
    ) { responder, _ in responder.health(await responder.host.health()) },
    Route(.GET, "/metrics", "showMetrics", "Figures for Prometheus", role: .read, answers: .text("text/plain")) { responder, _ in
      ControlResponse(
        status: .ok, headers: ["content-type": "text/plain; version=0.0.4; charset=utf-8"],
        body: .bytes(MetricsText.write(await responder.host.metrics(), failedHandshakes: responder.handshakes?.failures)))
    }.ofHost(),
    Route(.GET, "/openapi.json", "showDescription", "This description", role: nil, answers: .json(.any)) { _, _ in
      ControlResponse(
        status: .ok, headers: ["content-type": "application/json; charset=utf-8"], body: .bytes(RouteTable.description))
    },
  ]
}

extension RouteTable {
  /// What `/openapi.json` answers.
  fileprivate static let description = ByteBuffer(bytes: OpenAPIDocument.describing(control.routes))
}
