import NIOHTTP1
import RecordJSON
import TaskModel

/// Requests.
extension Route {
  static let requests: [Route] = [
    Route(
      .GET, "/v1/requests", "listRequests", "Lists requests, newest first, without their payloads", role: .read,
      query: [.filter, .identifier, .state, .tag, .problem, .limit(ControlResponder.listPreset), .after],
      answers: .page("requests", of: .request, idOf: "/v1/requests/{")
    ) { try await $0.listRequests($1.query) },
    Route(
      .POST, "/v1/requests", "submit", "Submits a request, or all of an array or none", role: .submit, query: [.park],
      takesIdempotencyKey: true, body: SubmissionReader.body(of: .newRequest),
      answers: .json(SubmissionReader.answer, status: .created, idOf: "/v1/requests/{"), .json(SubmissionReader.answer, status: .accepted)
    ) { try await $0.submit($1.request, parks: $1.query.flag("park")) },
    Route(
      .DELETE, "/v1/requests", "cancelRequests", "Cancels all requests of an identifier, a tag or both", role: .submit,
      query: [.tag, .identifier, .partOfFleet, .after], answers: .json(.object(.must("cancelled", .count), .may("next", .cursor)))
    ) { try await $0.cancelAll($1.query) },
    Route(
      .POST, "/v1/requests/retry", "retryRequests", "Makes dead letters pending again", role: .operate,
      query: [.identifier, .tag, .limit(ControlResponder.retryPreset), .after],
      answers: .json(NamedSchema.deadLetters("retried", canRefuse: true))
    ) { try await $0.retryAll($1.query) },
    Route(
      .POST, "/v1/requests/discard", "discardRequests", "Discards dead letters", role: .operate,
      query: [.identifier, .tag, .limit(ControlResponder.retryPreset), .after],
      answers: .json(NamedSchema.deadLetters("discarded", canRefuse: false))
    ) { try await $0.discardAll($1.query) },
    Route(
      .POST, "/v1/requests/bulk", "changeRequests", "Acts on the requests that match a filter, or counts them", role: .operate,
      body: RouteBody(BulkReader.schema), answers: .json(.named(.bulkResult))
    ) { try await $0.bulk($1.request) },
    Route(
      .GET, "/v1/requests/{id}", .request, "showRequest", "Shows a request with its payload", role: .read,
      answers: .json(.named(.request))
    ) { responder, id, _ in try await responder.one(responder.host.request(id)) { $0.request($1) } },
    Route(
      .DELETE, "/v1/requests/{id}", .request, "cancelRequest", "Cancels a request; a running one is asked to stop", role: .submit,
      answers: .json(.named(.request))
    ) { responder, id, _ in try await responder.cancel(id) },
    Route(
      .GET, "/v1/requests/{id}/why", .request, "explainRequest", "Says what keeps a request from running", role: .read,
      answers: .json(.named(.explanation))
    ) { responder, id, _ in try await responder.one(responder.host.explanation(of: id)) { $0.explanation($1) } },
    Route(
      .POST, "/v1/requests/{id}/snooze", .request, "snoozeRequest", "Postpones a pending request", role: .operate,
      body: RouteBody(SchedulingReader.delaySchema), answers: .json(.named(.request))
    ) { try await $0.snooze($1, $2.request) },
    Route(
      .POST, "/v1/requests/{id}/retry", .request, "retryRequest", "Makes a dead letter pending again", role: .operate,
      answers: .json(.named(.request))
    ) { responder, id, _ in try await responder.one(responder.host.retry(id)) { $0.request($1) } },
    Route(
      .POST, "/v1/requests/{id}/discard", .request, "discardRequest", "Discards a dead letter", role: .operate,
      answers: .json(.named(.request))
    ) { responder, id, _ in try await responder.one(responder.host.discard(id)) { $0.request($1) } },
  ]
}
