import RecordJSON
import StrictText
import TaskModel

/// Reloads.
extension ControlResponder {
  /// `POST /v1/reload` with `{"dry_run": true}` or nothing.
  func reload(_ request: ControlRequest) async throws -> ControlResponse {
    let isDry = try ReloadReader.read(request.body)
    let report = try await host.reload(isDry: isDry, by: await request.principal.name())
    return one(report) { $0.reload($1) }.about(of: report.count ?? "nothing", isDry: isDry)
  }
}
