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

  /// Reads `events` until the occurrence has ended, and prints the end. The subscription must precede the submission or start of the request.
  ///
  /// - Throws: `ExitCode` unless the occurrence succeeded; ``CommandFailure`` if the host went away.
  func follow(_ events: AsyncThrowingStream<ServerSentEvent, any Error>) async throws { try finish(try await ending(events)) }

  /// Reads `events` until the occurrence has ended.
  ///
  /// - Parameter shows: Whether to show on standard error what happens until then.
  /// - Throws: ``CommandFailure`` if the host went away.
  func ending(_ events: AsyncThrowingStream<ServerSentEvent, any Error>, shows: Bool = true) async throws -> OccurrenceWatch.Ending {
    let watch = OccurrenceWatch(client.caller, request: request, isRepeating: isRepeating, existed: existed)
    var line = ProgressLine()
    defer { line.clear() }
    do {
      return try await watch.ending(events) { step in if shows { show(step, &line) } }
    } catch let error as TaskHostError { throw CommandFailure(error, client.names) }
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

  private func finish(_ ending: OccurrenceWatch.Ending) throws {
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
