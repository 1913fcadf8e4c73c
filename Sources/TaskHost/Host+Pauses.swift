import FleetStore
import HostThreads
import Logging
import TaskFilters
public import TaskModel
import TaskScheduler
import TaskStore

// What operators pause, besides single requests.

extension Host {
  /// The pauses in force, oldest first.
  public func pauses() async -> [Pause] { await pauseBook().pauses }

  /// Holds what a filter selects until the pause ends, and counts it.
  ///
  /// - Parameter isDry: Whether only to check and to count.
  public func pause(_ order: PauseOrder, isDry: Bool) async throws(RequestRefusal) -> BegunPause {
    let pause =
      if order.isOfFleet {
        try await onThread { Result { () throws(RequestRefusal) in try self.pauseFleet(order, isDry: isDry) } }
      } else {
        try await ask { self.scheduler.pause(order, isDry: isDry, completion: $0) }
      }
    var begun = BegunPause(pause: pause)
    let waiting = try await held(by: pause, in: [.blocked, .pending, .claimed])
    (begun.waiting, begun.hasMore) = (waiting.records.count, waiting.next != nil)
    if order.isOfFleet, view.gap != nil {
      // Without the fleet's database, nobody knows how many.
      begun.hasMore = true
    } else {
      begun.running = try await held(by: pause, in: [.running]).records.count
    }
    guard !isDry else { return begun }
    let end = order.until.map { " for \(DurationText.format($0 - pause.since))" } ?? ""
    log.notice("\(pause.subject) is paused\(end) by \(order.by)\(order.reason.map { ": \($0)" } ?? "")", metadata: ["pause": "\(pause.id)"])
    return begun
  }

  /// Ends pauses.
  ///
  /// - Parameters:
  ///   - ofFleet: Whether pauses of the fleet are meant. The number of a pause says that by itself.
  ///   - by: Who asks, for the log.
  public func resume(_ selection: PauseSelection, ofFleet: Bool, by who: String) async throws(RequestRefusal) -> [Pause] {
    let isOfFleet =
      if case .id(let id) = selection { ofFleet || fleet != nil && id >= FleetPauses.firstID } else { ofFleet }
    let ended =
      if isOfFleet {
        try await onThread { Result { () throws(RequestRefusal) in try self.resumeFleet(selection) } }
      } else {
        try await ask { self.scheduler.resume(selection, completion: $0) }
      }
    for pause in ended { log.notice("the pause of \(pause.subject) was ended by \(who)", metadata: ["pause": "\(pause.id)"]) }
    return ended
  }

  func pauseBook() async -> PauseBook {
    await withCheckedContinuation { continuation in scheduler.pauses { continuation.resume(returning: $0) } }
  }

  private func pauseFleet(_ order: PauseOrder, isDry: Bool) throws(RequestRefusal) -> Pause {
    let now = SystemClock().wallTime
    let identifiers = try order.checkedFilter(now: now).identifiersAlone ?? []
    let session = try fleetSession()
    guard !isDry else { return Pause(id: PauseID(0), order: order, since: now) }
    do throws(FleetError) {
      if try session.pauses().count < Limits.pauses { return try session.add(order, of: identifiers) }
    } catch { throw Self.unsettled(error) }
    throw RequestRefusal(
      .limit, "\(Limits.pauses) pauses of the fleet are in force, the most: end some, as with taskhost resume --all --fleet")
  }

  private func resumeFleet(_ selection: PauseSelection) throws(RequestRefusal) -> [Pause] {
    let session = try fleetSession()
    let there: [Pause]
    do throws(FleetError) {
      there = try session.pauses()
      let ended = try session.end(there.filter(selection.selects))
      if !ended.isEmpty { return ended }
    } catch { throw Self.unsettled(error) }
    throw Scheduler.noPause(selection, among: there)
  }

  /// A connection of its own: what changes something is not tried again on another one.
  private func fleetSession() throws(RequestRefusal) -> FleetSession {
    guard let fleet else { throw RequestRefusal(.invalid, "fleet: this host is in no fleet: leave it out", field: "fleet") }
    do throws(FleetError) { return try fleet.agent.place.connect() } catch {
      throw RequestRefusal(.unavailable, "\(error): try again soon")
    }
  }

  private static func unsettled(_ error: FleetError) -> RequestRefusal {
    RequestRefusal(.unavailable, "\(error): taskhost pause --list says whether it was done")
  }

  private func held(by pause: Pause, in states: [RequestState]) async throws(RequestRefusal) -> ScannedRequests {
    let filter: RequestFilter
    do { filter = try RequestFilter(pause.order.filter, now: pause.since) } catch { throw error.refusal() }
    var scan = filter.scan
    (scan.states, scan.limit) = (states, Self.counted)
    return try await look { [scan] (view) throws(StoreError) in
      guard pause.order.isOfFleet else { return try view.store.scan(scan, accepts: filter.accepts) }
      return try view.scan(scan) { view.fleet?.has($0.id) == true && filter.accepts($0) }
    }
  }

  /// Requests that a pause counts at most.
  private static let counted = 10_000
}
