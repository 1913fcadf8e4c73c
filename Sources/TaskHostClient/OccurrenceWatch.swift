/// Follows an occurrence of a request to its end.
package struct OccurrenceWatch: Sendable {
  private let caller: ControlCaller
  private let request: String
  private let isRepeating: Bool
  private let existed: Bool

  /// How an occurrence ended.
  package struct Ending: Sendable {
    package let end: OccurrenceFollower.End
    /// The run that ended it; nil if the request never ran.
    package let run: Answer?
    /// The request's last message; nil if it has none, or its end is not known yet.
    package let message: String?
  }

  /// - Parameter existed: Whether the request existed before the subscription: if it has ended, no event comes.
  package init(_ caller: ControlCaller, request: String, isRepeating: Bool, existed: Bool) {
    (self.caller, self.request, self.isRepeating, self.existed) = (caller, request, isRepeating, existed)
  }

  /// Reads `events` until the occurrence has ended. The subscription must precede the submission or start of the request, unless it existed.
  ///
  /// - Parameter show: Called with what happens until then.
  package func ending(
    _ events: AsyncThrowingStream<ServerSentEvent, any Error>, _ show: (OccurrenceFollower.Step) -> Void = { _ in }
  ) async throws -> Ending {
    var follower = OccurrenceFollower(request: request, isRepeating: isRepeating)
    var last: Answer?
    var message: String?
    if existed {
      let present = try StreamEvent("request", try await record())
      if case .request(let record) = present { message = record.lastMessage }
      if case .ended(let end) = follower.apply(present) { return Ending(end: end, run: try await lastRun(nil), message: message) }
    }
    do {
      for try await case .event(let name, let data) in events {
        for (name, data) in try await known(name, try caller.answer(data)) {
          let event = try StreamEvent(name, data)
          let step = follower.apply(event)
          if case .run(let run) = event, run.id == follower.lastRun { last = data }
          if case .request(let record) = event, record.id == request { message = record.lastMessage }
          if case .ended(let end) = step {
            return Ending(end: end, run: try await lastRun(last), message: message)
          }
          if let step { show(step) }
        }
      }
    } catch let error where !(error is TaskHostError || error is CancellationError) {
      throw gone(because: "\(error)")
    }
    try Task.checkCancellation()
    throw gone(because: "it ended")
  }

  private func record() async throws -> Answer { try await caller.send("GET", "/v1/requests/\(ControlCaller.escape(request))") }

  /// The event itself; if events were missed, the current state instead.
  private func known(_ name: String, _ data: Answer) async throws -> [(name: String, data: Answer)] {
    guard name == "missed" else { return [(name, data)] }
    // The run comes first, as in the stream: the request's state alone does not say how its last run ended.
    let run = try await latestRun().flatMap { $0.value.outcome == nil ? nil : ("run", $0.json) }
    return [run, ("request", try await record())].compactMap(\.self)
  }

  private func latestRun() async throws -> Quoted<RunAnswer>? {
    try await caller.send("GET", ControlCaller.path("/v1/runs", [("request", request), ("limit", "1")])).read(LatestRun.self).runs.first
  }

  private struct LatestRun: Decodable {
    let runs: [Quoted<RunAnswer>]
  }

  private func gone(because reason: String) -> TaskHostError {
    TaskHostError(
      .unreachable, caller.address.text, "the host went away before \(request) was done: \(reason)",
      remedy: "the request is stored: start the host again, then run taskhost tasks show \(request)")
  }

  /// The run that ended the occurrence; nil if the request never ran.
  ///
  /// - Parameter seen: The run's event, used if the host is already gone.
  private func lastRun(_ seen: Answer?) async throws -> Answer? {
    // Neither a listing nor an event is guaranteed to contain the unchanged output.
    var id = try seen?.read(RunAnswer.self).id
    if id == nil { id = try await latestRun()?.value.id }
    guard let id else { return nil }
    do { return try await caller.send("GET", "/v1/runs/\(ControlCaller.escape(id))") } catch {
      guard let seen else { throw error }
      return seen
    }
  }
}
