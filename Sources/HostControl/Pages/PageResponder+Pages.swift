import Dashboard
import NIOHTTP1
import RecordJSON
import StrictText
import TaskFilters
import TaskModel
import TypedCalls

/// What pages show.
extension PageResponder {
  /// Rows of a list. A page costs the host a bounded amount of work, however much the store has.
  private static let rows = 50
  /// Rows of a list on the overview, and how far it looks ahead.
  private static let (few, ahead) = (8, Duration.seconds(24 * 3600))
  /// Runs of a request's or a schedule's page.
  private static let runs = 60
  /// Runs of the forecast.
  private static let forecastRuns = 5000

  func show(_ request: ControlRequest) async throws -> ControlResponse {
    let parts = try request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { try QueryParameters.decode($0) }
    func query(_ known: String...) throws -> PageQuery { try PageQuery(request.query, known: known) }
    switch (parts.count, parts.count > 1 ? parts[1] : "") {
    case (1, _) where parts[0].isEmpty: return try page(await overview(), query())
    case (1, _), (2, ""):
      var response = seeOther("/", .created)
      response.headers.replaceOrAdd(name: "location", value: "/")
      return response
    case (2, "changes"): return try await changes(query("request"))
    case (2, "requests"): return try await requests(query("filter", "after"))
    case (2, "tasks"): return try page(SchedulePages.list(await host.status().tasks, now: now), query())
    case (2, "runs"): return try await runs(query("filter", "after"))
    case (2, "plugins"): return try page(PluginsPage.make(await host.plugins(), now: now), query())
    case (2, "conditions"): return try page(ConditionsPage.make(try await host.conditions(), now: now), query())
    case (2, "forecast"):
      return try page(ForecastPage.make(try await host.forecast(hours: 24, limit: Self.forecastRuns, of: { _ in true }), now: now), query())
    case (2, "transfers"): return try await transfers(query("after"))
    case (2, "assertions"): return try page(AssertionsPage.make(await host.heldAssertions(), now: now), query())
    case (2, "pauses"): return try page(PausesPage.make(await host.pauses(), now: now), query())
    case (2, "audit"): return try await audit(query("since", "before"), rows: Self.rows)
    case (2, "submit"): return try await submitForm(query("identifier"))
    case (3, "files"): return try file(parts[2], request)
    case (3, "requests"): return try await one(try id(parts[2], request), query())
    case (3, "runs"):
      let id: RunID = try id(parts[2], request)
      let run = try await host.run(id)
      return try page(RunPage.make(run, try? await host.request(run.request), plugins: await host.plugins(), now: now), query())
    case (3, "tasks"): return try await schedule(try identifier(parts[2]), query("key", "request", "after"))
    default: throw Self.nothing(at: request)
    }
  }

  func id<Kind>(_ text: String, _ request: ControlRequest) throws(RequestRefusal) -> RecordID<Kind> {
    if let id = RecordID<Kind>(text) { return id }
    throw Self.nothing(at: request)
  }

  func identifier(_ text: String) throws(RequestRefusal) -> TaskIdentifier {
    do { return try TaskIdentifier(text) } catch { throw RequestRefusal(.notFound, error.description, field: "identifier") }
  }

  // MARK: Lists

  private func overview() async -> Page {
    let now = now
    var status = await host.status()
    let plugins = await host.plugins()
    var recent = RunQuery()
    recent.limit = Self.few + status.maxConcurrentRuns
    // With a store that cannot be read, the problems are all the more important.
    let runs = (try? await host.runs(recent).records) ?? []
    let live = runs.filter { $0.outcome == nil }
    // In the order of their times, those that are due come first.
    var soon = RequestQuery()
    (soon.states, soon.dueBy, soon.limit) = ([.pending, .claimed], now + Self.ahead, Self.rows)
    let coming = (try? await host.requests(soon)) ?? []
    var blocked = RequestQuery()
    (blocked.states, blocked.limit) = ([.blocked], Self.few)
    let followers = (try? await host.requests(blocked)) ?? []
    let waiting = Array((coming.filter { $0.due <= now }.prefix(Self.few) + followers).prefix(Self.few))
    var reasons: [RequestID: String] = [:]
    for record in waiting {
      let gates = (try? await host.explanation(of: record.id))?.gates ?? []
      reasons[record.id] = gates.map(\.sentence).joined(separator: "; ")
    }
    if let gap = await host.listGap(), !status.problems.contains(where: { $0.kind == .fleet }) {
      status.problems.append(
        Problem(.fleet, gap, remedy: "look after the database: taskhost fleet doctor; the host's own work goes on"))
    }
    return OverviewPage.make(
      status, runs: live + runs.filter { $0.outcome != nil }.prefix(Self.few), plugins: plugins,
      next: Array(coming.filter { $0.due > now }.prefix(Self.few)), waiting: waiting, reasons: reasons, now: now)
  }

  private func requests(_ query: PageQuery) async throws -> ControlResponse {
    let text = try query.text("filter") ?? ""
    let cursor = PageCursor(.requests, selecting: [("filter", text)])
    let after: RequestID? = try query.after(cursor)
    let filter: RequestFilter
    do { filter = try RequestFilter(text, now: now) } catch {
      return try page(ListPages.flaw(error, in: text, of: .requests, now: now), query, status: .badRequest)
    }
    let found = try await host.requests(matching: filter, after: after, limit: Self.rows)
    let next = cursor.text(after: found.next)
    return try page(
      ListPages.requests(found.records, filter: text, next: next, isFirst: after == nil, now: now), query, gap: await host.listGap())
  }

  private func runs(_ query: PageQuery) async throws -> ControlResponse {
    let text = try query.text("filter") ?? ""
    var wanted: RunQuery
    do { wanted = try RunQuery(filter: text, now: now) } catch {
      return try page(ListPages.flaw(error, in: text, of: .runs, now: now), query, status: .badRequest)
    }
    let cursor = PageCursor(.runs, selecting: [("filter", text)])
    wanted.after = try query.after(cursor)
    wanted.limit = Self.rows
    let found = try await host.runs(wanted)
    let next = cursor.text(after: found.next)
    return try page(
      ListPages.runs(found.records, filter: text, next: next, isFirst: wanted.after == nil, now: now), query, gap: await host.listGap())
  }

  private func transfers(_ query: PageQuery) async throws -> ControlResponse {
    var wanted = RequestQuery()
    (wanted.identifier, wanted.limit) = (.transfers, Self.rows)
    let cursor = PageCursor(.transfers, selecting: [])
    wanted.after = try query.after(cursor)
    let found = try await host.requests(wanted)
    var transfers: [TransferState] = []
    for record in found {
      // One that was removed meanwhile is left out.
      guard let whole = try? await host.request(record.id), !TransferCheck.isSweep(whole.request.payload) else { continue }
      transfers.append(try await api.state(of: whole))
    }
    let next = cursor.text(after: found.count < wanted.limit ? nil : found.last?.id)
    return try page(
      TransfersPage.make(transfers, next: next, isFirst: wanted.after == nil, now: now), query, gap: await host.listGap())
  }

  // MARK: One

  private func one(_ id: RequestID, _ query: PageQuery) async throws -> ControlResponse {
    var wanted = RunQuery()
    (wanted.request, wanted.limit) = (id, Self.runs)
    var runs = try await host.runs(wanted).records
    let record: RequestRecord
    do { record = try await host.request(id) } catch {
      guard error.code == .notFound else { throw error }
      return try page(RequestPage.gone(id, runs: runs, now: now), query, status: .notFound)
    }
    // Lists of runs come without logs.
    if let last = runs.first, let whole = try? await host.run(last.id) { runs[0] = whole }
    var known: [RequestID: RequestRecord] = [:]
    var open = record.predecessors
    while let next = open.popLast(), known.count < 24 {
      guard known[next] == nil, let found = try? await host.request(next) else { continue }
      known[next] = found
      open = found.predecessors + open
    }
    let explanation = record.state.isFinal ? nil : try? await host.explanation(of: id)
    return try page(
      RequestPage.make(record, explanation, runs: runs, predecessors: known, plugins: await host.plugins(), now: now), query)
  }

  private func schedule(_ identifier: TaskIdentifier, _ query: PageQuery) async throws -> ControlResponse {
    let key = try query.whole("key")
    let request: RequestID? = try query.id("request", ofA: "request")
    let plugin = await host.plugins().first { $0.contract?.identifier == identifier }
    let own = await host.status().tasks.filter { $0.schedule.identifier == identifier }
    let found = own.first { task in
      let isKey = key.map { task.schedule.key?.utf8.elementsEqual($0.utf8) == true } ?? (request != nil || task.schedule.key == nil)
      return isKey && (request == nil || task.schedule.request?.id == request)
    }
    guard let task = found ?? (key == nil && request == nil ? whole(identifier, own, plugin) : nil) else {
      throw RequestRefusal(
        .notFound, "no schedule of that name is known: nothing was submitted for it, or its request has ended and its history is gone")
    }
    var wanted = RunQuery()
    (wanted.identifier, wanted.limit) = (identifier, Self.runs)
    // The runs of one among several schedules are those of its request.
    if task.schedule.key != nil || request != nil { wanted.request = task.schedule.request?.id ?? task.schedule.lastRun?.request }
    // The links of the page name the schedule by its key, if it has one.
    let alone = task.schedule.key == nil && request != nil ? wanted.request?.description : nil
    let cursor = PageCursor(
      .runs, selecting: [("identifier", identifier.rawValue), ("key", task.schedule.key ?? ""), ("request", alone ?? "")])
    wanted.after = try query.after(cursor)
    let runs = try await host.runs(wanted)
    let next = cursor.text(after: runs.next)
    return try page(
      SchedulePages.one(task, plugin, runs: runs.records, next: next, isFirst: wanted.after == nil, now: now), query,
      gap: await host.listGap())
  }

  /// An identifier has a page too if all its schedules have keys, or none has run.
  private func whole(_ identifier: TaskIdentifier, _ own: [TaskActivity], _ plugin: PluginStatus?) -> TaskActivity? {
    if own.count == 1 { return own[0] }
    return own.isEmpty && plugin == nil ? nil : TaskActivity(ScheduleRecord(identifier: identifier))
  }

  // MARK: The form of a request

  private func submitForm(_ query: PageQuery) async throws -> ControlResponse {
    let chosen = try query.text("identifier").map { text throws(RequestRefusal) in try identifier(text) }
    return try page(await submitPage(chosen), query)
  }

  /// The form for a handler, with what was typed so far.
  func submitPage(_ chosen: TaskIdentifier?, typed: SubmitPage.Typed = [:], flaw: String? = nil) async -> Page {
    let contracts = await host.plugins().compactMap(\.contract).sorted { $0.identifier < $1.identifier }
    let signature = contracts.first { $0.identifier == chosen }?.typed.flatMap { try? TypedSignature($0.signature) }
    return SubmitPage.make(
      contracts.map(\.identifier.rawValue), chosen: chosen?.rawValue, signature: signature, typed: typed, flaw: flaw, now: now)
  }
}
