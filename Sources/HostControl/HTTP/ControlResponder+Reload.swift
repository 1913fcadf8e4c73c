import RecordJSON
import StrictText
import TaskModel

/// Reloads and approvals.
extension ControlResponder {
  /// `POST /v1/reload` with `{"dry_run": true}` or nothing.
  func reload(_ request: ControlRequest) async throws -> ControlResponse {
    let isDry = try ReloadReader.read(request.body)
    let report = try await host.reload(isDry: isDry, by: await request.principal.name())
    return one(report) { $0.reload($1) }.about(of: report.count ?? "nothing", isDry: isDry)
  }

  /// `POST /v1/plugins/ID/approve` with `{"fingerprint": "…"}`, and `"reload": false` to put it in force later.
  func approve(_ identifier: TaskIdentifier, _ request: ControlRequest) async throws -> ControlResponse {
    let order = try ApprovalReader.read(request.body)
    let report = try await host.approve(
      identifier, order.fingerprint, reloads: order.reloads, by: await request.principal.name())
    return one(report) { $0.approvalReport($1) }.about(of: report.approval.gained.joined(separator: "; "))
  }

  /// `POST /v1/plugins/ID/revoke`.
  func revoke(_ identifier: TaskIdentifier, _ request: ControlRequest) async throws -> ControlResponse {
    let report = try await host.revoke(identifier, by: await request.principal.name())
    return one(report) { $0.revocationReport($1) }.about(of: report.lost.joined(separator: "; "))
  }
}
