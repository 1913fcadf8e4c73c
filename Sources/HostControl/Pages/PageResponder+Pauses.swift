import Dashboard
import NIOHTTP1
import TaskFilters
import TaskModel

/// The page of the pauses, and its forms.
extension PageResponder {
  /// Pauses as the form says. A pause of everything is counted and asked about first.
  ///
  /// The selection must be chosen: an empty filter alone pauses nothing.
  func pauseByForm(_ request: ControlRequest) async throws -> ControlResponse {
    let form = try PageQuery(form: request.body, known: PausesPage.inputs + ["confirmed"])
    do {
      let order = try await pauseOrder(form, request.principal)
      if try meansEverything(order.filter), try form.text("confirmed") != "yes" {
        let counted = try await host.pause(order, isDry: true)
        return try page(PausesPage.question(counted, typed: try Self.typed(form), now: now))
      }
      let begun = try await host.pause(order, isDry: false)
      return seeOther(Self.pauses, .pauseBegun, count: begun.waiting).about(["\(begun.pause.id)"], of: begun.pause.subject)
    } catch let refusal as RequestRefusal where refusal.code != .internal {
      let shown = PausesPage.make(await host.pauses(), typed: try Self.typed(form), flaw: refusal.message, now: now)
      return try page(shown, status: refusal.code.status)
    }
  }

  /// Ends pauses.
  func resume(_ selection: PauseSelection, _ request: ControlRequest) async throws -> ControlResponse {
    let ended = try await host.resume(selection, ofFleet: false, by: await request.principal.name())
    return seeOther(Self.pauses, .pauseEnded, count: ended.count).about(ended.map { "\($0.id)" }, of: ended.first?.subject)
  }

  private static let pauses = "/ui/pauses"

  private static func typed(_ form: PageQuery) throws -> PausesPage.Typed {
    var typed: PausesPage.Typed = [:]
    for name in PausesPage.inputs { typed[name] = try form.whole(name) }
    return typed
  }

  private func pauseOrder(_ form: PageQuery, _ principal: Principal) async throws -> PauseOrder {
    var order = PauseOrder(by: "\(await principal.name()), in the dashboard", user: principal.peer?.user)
    let filter = try form.text("filter")
    switch try form.text("selection") {
    case PausesPage.byFilter:
      guard let filter else {
        throw RequestRefusal(.invalid, "the filter is empty: write one, as tag:nightly, or choose everything", field: "filter")
      }
      order.filter = filter
    case PausesPage.everything:
      guard filter == nil else {
        throw RequestRefusal(
          .invalid, "everything is chosen, and a filter is written: empty the filter, or choose what it selects", field: "filter")
      }
    default: throw RequestRefusal(.invalid, "nothing is chosen: choose what the filter selects, or everything", field: "selection")
    }
    order.reason = try form.text("why")
    order.until = try form.moment("until", direction: 1)
    return order
  }

  /// Whether a pause with this filter leaves nothing out.
  private func meansEverything(_ text: String) throws(RequestRefusal) -> Bool {
    do {
      let filter = try RequestFilter(text, now: now)
      return filter.selectsAll || filter.identifiersAlone?.contains { $0.text == "*" } == true
    } catch { throw error.refusal() }
  }
}
