import NIOHTTP1
import RecordJSON
import TaskModel

/// Background transfers.
extension Route {
  static let transfers: [Route] = [
    Route(
      .GET, "/v1/transfers", "listTransfers", "Lists transfers, newest first", role: .read,
      query: [ControlResponder.transferState, .tag, .limit(ControlResponder.transferPreset), .after],
      answers: .page("transfers", of: .transferSummary, idOf: "/v1/transfers/{")
    ) { try await $0.listTransfers($1.query) },
    Route(
      .POST, "/v1/transfers", "submitTransfer", "Submits a transfer", role: .submit, takesIdempotencyKey: true,
      body: SubmissionReader.body(of: .newTransfer), answers: .json(SubmissionReader.answer, status: .created, idOf: "/v1/transfers/{")
    ) { try await $0.submit($1.request, of: .transfers) },
    Route(
      .GET, "/v1/transfers/{id}", .transfer, "showTransfer", "Shows a transfer with its payload and its report", role: .read,
      answers: .json(.named(.transfer))
    ) { responder, id, _ in try await responder.showTransfer(id) },
    Route(
      .DELETE, "/v1/transfers/{id}", .transfer, "cancelTransfer", "Cancels a transfer", role: .submit, answers: .json(.named(.request))
    ) { responder, id, _ in
      _ = try await responder.transfer(id)
      return try await responder.one(responder.host.cancel(id)) { $0.request($1) }
    },
    Route(
      .POST, "/v1/transfers/{id}/pause", .transfer, "pauseTransfer", "Holds a transfer back until it is resumed", role: .submit,
      body: RouteBody(SchedulingReader.reasonSchema, isRequired: false), answers: .json(.named(.request))
    ) { try await $0.pauseTransfer($1, $2.request) },
    Route(
      .POST, "/v1/transfers/{id}/resume", .transfer, "resumeTransfer", "Lets a paused transfer go on", role: .submit,
      answers: .json(.named(.request))
    ) { responder, id, _ in
      _ = try await responder.transfer(id)
      return try await responder.one(responder.host.resume(id)) { $0.request($1) }
    },
  ]
}
