import NIOHTTP1
import RecordJSON
import TaskModel

/// Conditions, events, the forecast and execution assertions.
extension Route {
  static let scheduling: [Route] = [
    Route(.GET, "/v1/conditions", "showConditions", "Shows the machine's conditions", role: .read, answers: .json(.named(.conditions))) {
      responder, _ in try await responder.one(responder.host.conditions()) { $0.conditions($1) }
    },
    Route(
      .PUT, "/v1/conditions", "overrideConditions", "Overrides conditions until the override is cleared", role: .operate,
      body: RouteBody(SchedulingReader.overridesSchema), answers: .json(.named(.conditions))
    ) { try await $0.overrideConditions($1.request) }.ofHost(),
    Route(
      .DELETE, "/v1/conditions", "clearConditions", "Clears overrides of conditions", role: .operate, query: [.condition],
      answers: .json(.named(.conditions))
    ) { try await $0.clearConditions($1.query) }.ofHost(),
    Route(
      .POST, "/v1/events/{name}", .event, "raiseEvent", "Wakes the requests that wait for an event", role: .submit,
      body: RouteBody(SchedulingReader.eventSchema, limit: SchedulingReader.eventBytes, isRequired: false),
      answers: .json(.named(.eventReceipt))
    ) { try await $0.notify($1, $2.request) },
    Route(
      .GET, "/v1/forecast", "forecast", "Lists the runs that would start if nothing changed", role: .read,
      query: [.identifier, .hours(ControlResponder.forecastPresets.hours), .limit(ControlResponder.forecastPresets.limit)],
      answers: .json(.named(.forecast))
    ) { try await $0.forecast($1.query) },
    Route(
      .GET, "/v1/assertions", "listAssertions", "Lists the execution assertions that are held, oldest first", role: .read,
      answers: .page("assertions", of: .assertion)
    ) { responder, _ in responder.list("assertions", await responder.host.heldAssertions()) { $0.assertion($1) } },
    Route(
      .POST, "/v1/assertions", "beginAssertion", "Asks the host not to end for a while", role: .submit,
      body: RouteBody(AssertionReader.schema), answers: .json(.named(.assertion), status: .created, idOf: "/v1/assertions/{")
    ) { try await $0.beginAssertion($1.request) }.ofHost(),
    Route(
      .DELETE, "/v1/assertions/{id}", .assertion, "giveBackAssertion", "Gives an execution assertion back", role: .submit,
      answers: .json(.named(.assertion))
    ) { responder, id, _ in try await responder.one(responder.host.giveBackAssertion(id)) { $0.assertion($1) } }.ofHost(),
    Route(.GET, "/v1/pauses", "listPauses", "Lists the pauses in force, oldest first", role: .read, answers: .page("pauses", of: .pause)) {
      responder, _ in responder.list("pauses", await responder.host.pauses()) { $0.pause($1) }
    }.ofHost(),
    Route(
      .POST, "/v1/pauses", "pause", "Lets nothing begin of what a filter selects, or of everything", role: .operate,
      body: RouteBody(PauseReader.schema),
      answers: .json(.named(.begunPause), status: .created, idOf: "/v1/pauses/{"), .json(.named(.begunPause))
    ) { try await $0.pause($1.request) }.ofHost(),
    Route(
      .DELETE, "/v1/pauses", "resume", "Ends the pauses with this filter, or all", role: .operate,
      query: [
        QueryParameter("filter", "The filter of the pauses to end, as they were made.", .string),
        QueryParameter("all", "true: all pauses.", .boolean),
        QueryParameter("fleet", "true: of the fleet's pauses, instead of this host's own.", .boolean),
      ],
      answers: .page("ended", of: .pause)
    ) { try await $0.resume($1) }.ofHost(),
    Route(
      .DELETE, "/v1/pauses/{id}", .pause, "endPause", "Ends a pause", role: .operate, answers: .page("ended", of: .pause)
    ) { try await $0.end(.id($1), $2.request) }.ofHost(),
  ]
}
