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
    let pause = try await ask { self.scheduler.pause(order, isDry: isDry, completion: $0) }
    var begun = BegunPause(pause: pause)
    let waiting = try held(by: pause, in: [.blocked, .pending, .claimed])
    (begun.waiting, begun.hasMore) = (waiting.records.count, waiting.next != nil)
    begun.running = try held(by: pause, in: [.running]).records.count
    guard !isDry else { return begun }
    let end = order.until.map { " for \(DurationText.format($0 - pause.since))" } ?? ""
    log.notice("\(pause.subject) is paused\(end) by \(order.by)\(order.reason.map { ": \($0)" } ?? "")", metadata: ["pause": "\(pause.id)"])
    return begun
  }

  /// Ends pauses.
  ///
  /// - Parameter by: Who asks, for the log.
  public func resume(_ selection: PauseSelection, by who: String) async throws(RequestRefusal) -> [Pause] {
    let ended = try await ask { self.scheduler.resume(selection, completion: $0) }
    for pause in ended { log.notice("the pause of \(pause.subject) was ended by \(who)", metadata: ["pause": "\(pause.id)"]) }
    return ended
  }

  func pauseBook() async -> PauseBook {
    await withCheckedContinuation { continuation in scheduler.pauses { continuation.resume(returning: $0) } }
  }

  private func held(by pause: Pause, in states: [RequestState]) throws(RequestRefusal) -> ScannedRequests {
    let filter: RequestFilter
    do { filter = try RequestFilter(pause.order.filter, now: pause.since) } catch { throw error.refusal() }
    var scan = filter.scan
    (scan.states, scan.limit) = (states, Self.counted)
    do { return try store.scan(scan, accepts: filter.accepts) } catch { throw RequestRefusal(error) }
  }

  /// Requests that a pause counts at most.
  private static let counted = 10_000
}
