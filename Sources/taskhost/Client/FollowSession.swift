import ArgumentParser
import CalendarTime
import StrictText
import TaskHostClient
import TaskModel

/// Follows an occurrence to its end and shows it, for `--wait`.
struct FollowSession {
  let client: ControlClient
  let request: String
  let isRepeating: Bool
  /// Whether the submission answered with a request that existed before: if it has ended, no event comes.
  let existed: Bool
  /// The answer to the submission, if JSON is wanted.
  let json: Answer?

  /// How an occurrence ended.
  struct Ending {
    let end: OccurrenceFollower.End
    /// The run that ended it; nil if the request never ran.
    let run: Answer?
    /// The request's last message; nil if it has none, or its end is not known yet.
    let message: String?
  }

  /// Reads `events` until the occurrence has ended, and prints the end. The subscription must precede the submission or start of the request.
  ///
  /// - Throws: `ExitCode` unless the occurrence succeeded; ``CommandFailure`` if the host went away.
  func follow(_ events: AsyncThrowingStream<ServerSentEvent, any Error>) async throws { try finish(try await ending(events)) }

  /// Reads `events` until the occurrence has ended.
  ///
  /// - Parameter shows: Whether to show on standard error what happens until then.
  /// - Throws: ``CommandFailure`` if the host went away.
  func ending(_ events: AsyncThrowingStream<ServerSentEvent, any Error>, shows: Bool = true) async throws -> Ending {
    var follower = OccurrenceFollower(request: request, isRepeating: isRepeating)
    var last: Answer?
    var message: String?
    var line = ProgressLine()
    defer { line.clear() }
    if existed {
      let present = try StreamEvent("request", try await client.get("/v1/requests/\(ControlClient.escape(request))"))
      if case .request(let record) = present { message = record.lastMessage }
      if case .ended(let end) = follower.apply(present) { return Ending(end: end, run: try await lastRun(nil), message: message) }
    }
    do {
      for try await case .event(let name, let data) in events {
        for (name, data) in try await known(name, try client.answer(data)) {
          let event = try StreamEvent(name, data)
          let step = follower.apply(event)
          if case .run(let run) = event, run.id == follower.lastRun { last = data }
          if case .request(let record) = event, record.id == request { message = record.lastMessage }
          if case .ended(let end) = step {
            return Ending(end: end, run: try await lastRun(last), message: message)
          }
          if shows, let step { show(step, &line) }
        }
      }
    } catch let error where !(error is CommandFailure || error is TaskHostError || error is ExitCode) {
      throw gone(because: "\(error)")
    }
    throw gone(because: "it ended")
  }

  /// The event itself; if events were missed, the current state instead.
  private func known(_ name: String, _ data: Answer) async throws -> [(name: String, data: Answer)] {
    guard name == "missed" else { return [(name, data)] }
    // The run comes first, as in the stream: the request's state alone does not say how its last run ended.
    let run = try await latestRun().flatMap { $0.value.outcome == nil ? nil : ("run", $0.json) }
    return [run, ("request", try await client.get("/v1/requests/\(request)"))].compactMap(\.self)
  }

  private func latestRun() async throws -> Quoted<RunAnswer>? {
    try await client.get("/v1/runs?request=\(request)&limit=1").read(LatestRun.self).runs.first
  }

  private struct LatestRun: Decodable {
    let runs: [Quoted<RunAnswer>]
  }

  private func gone(because reason: String) -> CommandFailure {
    CommandFailure(
      .noHost, client.socket, "the host went away before \(request) was done: \(reason)",
      remedy: "the request is stored: start the host again, then run taskhost tasks show \(request)")
  }

  private func show(_ step: OccurrenceFollower.Step, _ line: inout ProgressLine) {
    switch step {
    case .began(let attempt): line.begin(attempt == 1 ? "running" : "running, attempt \(attempt)")
    case .progress(let progress): line.show(progress)
    case .work(let work): line.show(work)
    case .log(let level, let message):
      line.clear()
      Terminal.note("\(level): \(message.escapingControlCharacters)")
      line.draw()
    case .again(let outcome, let message, let due):
      line.clear()
      let when = MomentFormat.relative(due, now: MomentText.now)
      let why = message.map { ": \($0.escapingControlCharacters)" } ?? ""
      Terminal.note("\(outcome)\(why); again \(when)")
    case .paused(let by, let why):
      line.clear()
      let why = why.map { ": \($0.escapingControlCharacters)" } ?? ""
      Terminal.note("paused by \(by.escapingControlCharacters)\(why); it goes on after: taskhost transfers resume \(request)")
    case .ended: break
    }
  }

  private func finish(_ ending: Ending) throws {
    let end = ending.end
    if let json {
      printJSON(end, submission: json, run: ending.run)
    } else {
      let run = try ending.run?.read(RunAnswer.self)
      if let message = run?.message { Terminal.print(message.escapingControlCharacters) }
      if let output = run?.output?.bytes ?? run?.outputBase64.flatMap(Base64.decode) { Terminal.print(output) }
      if end == .cancelled { Terminal.note("cancelled: \(request)") }
      if end == .failed, run?.message == nil { Terminal.note("failed: \(run?.outcome ?? Self.neverRan(ending.message))") }
    }
    if end.status != .done { throw ExitCode(end.status.rawValue) }
  }

  /// Without a run, only the request knows why it failed.
  private static func neverRan(_ message: String?) -> String {
    "it did not run" + (message.map { ": \($0.escapingControlCharacters)" } ?? "")
  }

  /// The run that ended the occurrence; nil if the request never ran.
  ///
  /// - Parameter seen: The run's event, used if the host is already gone.
  private func lastRun(_ seen: Answer?) async throws -> Answer? {
    // Neither a listing nor an event is guaranteed to contain the unchanged output.
    var id = try seen?.read(RunAnswer.self).id
    if id == nil { id = try await latestRun()?.value.id }
    guard let id else { return nil }
    do { return try await client.get("/v1/runs/\(id)") } catch {
      guard let seen else { throw error }
      return seen
    }
  }

  private func printJSON(_ end: OccurrenceFollower.End, submission: Answer, run: Answer?) {
    Terminal.printObject { writer in
      writer.name("submission")
      writer.raw(submission.bytes)
      writer.member("outcome", "\(end)")
      guard let run else { return }
      writer.name("run")
      writer.raw(run.bytes)
    }
  }
}
