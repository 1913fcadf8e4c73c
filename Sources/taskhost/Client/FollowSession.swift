import ArgumentParser
import HostControl
import StrictText
import TaskModel

/// Waits for the end of an occurrence and shows it: what `--wait` does.
struct FollowSession {
  let client: ControlClient
  let request: String
  let isRepeating: Bool
  /// The answer that began it, where JSON is wanted.
  let json: ControlClient.Answer?

  /// Reads `events`, which were subscribed to before the request was touched, until the occurrence has ended.
  ///
  /// - Throws: `ExitCode` unless it succeeded; ``CommandFailure`` when the host went away.
  func follow(_ events: AsyncThrowingStream<ServerSentEvent, any Error>) async throws {
    var follower = OccurrenceFollower(request: request, isRepeating: isRepeating)
    var last: ControlClient.Answer?
    do {
      for try await case .event(let name, let data) in events {
        for (name, event) in try await known(name, try client.answer(data)) {
          let step = follower.apply(name, event.node)
          if name == "run", let run = follower.lastRun, event.node["id"]?.string == run { last = event }
          if case .ended(let end) = step { return try await finish(end, run: last) }
          if let step { show(step) }
        }
      }
    } catch let error where !(error is CommandFailure || error is ExitCode) {
      throw gone(because: "\(error)")
    }
    throw gone(because: "it ended")
  }

  /// The event as it is; instead of events that were missed, what is true by now.
  private func known(_ name: String, _ event: ControlClient.Answer) async throws -> [(name: String, event: ControlClient.Answer)] {
    guard name == "missed" else { return [(name, event)] }
    // The run first, as it is told: the request's state alone does not say how its last run ended.
    var known: [(name: String, event: ControlClient.Answer)] = []
    let runs = try await client.get("/v1/runs?request=\(request)&limit=1")
    if let run = runs.node["runs"]?.array?.first, run["outcome"] != nil { known.append(("run", try client.answer(runs.raw(run)))) }
    known.append(("request", try await client.get("/v1/requests/\(request)")))
    return known
  }

  private func gone(because reason: String) -> CommandFailure {
    CommandFailure(
      .noHost, client.socket, "the host went away while \(request) was not done: \(reason)",
      remedy: "the request is kept: start the host again, then taskhost tasks show \(request)")
  }

  private func show(_ step: OccurrenceFollower.Step) {
    switch step {
    case .began(let attempt): Terminal.progress(attempt == 1 ? "running" : "running, attempt \(attempt)")
    case .progress(let completed, 0): Terminal.progress("running: \(completed)")
    case .progress(let completed, let total):
      let percent = Int(Double(completed) / Double(max(1, total)) * 100)
      Terminal.progress("running: \(percent) % (\(completed) of \(total))")
    case .log(let level, let message):
      Terminal.progress("")
      Terminal.note("\(level): \(message.escapingControlCharacters)")
    case .again(let outcome, let message, let due):
      Terminal.progress("")
      let when = MomentText.relative(due, now: ControlServer.systemTime().unixMilliseconds)
      let why = message.map { ": \($0.escapingControlCharacters)" } ?? ""
      Terminal.note("\(outcome)\(why); again \(when)")
    case .ended: break
    }
  }

  private func finish(_ end: OccurrenceFollower.End, run seen: ControlClient.Answer?) async throws {
    Terminal.progress("")
    let run = try await lastRun(seen)
    if let json {
      printJSON(end, submission: json, run: run)
    } else {
      if let message = run?.node["message"]?.string { Terminal.print(message.escapingControlCharacters) }
      if let run, let output = Self.output(of: run) { Terminal.print(output) }
      if end == .cancelled { Terminal.note("cancelled: \(request)") }
      if end == .failed, run?.node["message"]?.string == nil {
        Terminal.note("failed: \(run?.node["outcome"]?.string ?? "it did not run")")
      }
    }
    if end.status != .done { throw ExitCode(end.status.rawValue) }
  }

  /// The run that ended the occurrence; nil when it never ran.
  ///
  /// - Parameter seen: Its event, which does where the host is gone by now.
  private func lastRun(_ seen: ControlClient.Answer?) async throws -> ControlClient.Answer? {
    if let seen, let id = seen.node["id"]?.string {
      do {
        return try await client.get("/v1/runs/\(id)")
      } catch {
        return seen
      }
    }
    let runs = try await client.get("/v1/runs?request=\(request)&limit=1")
    guard let id = runs.node["runs"]?.array?.first?["id"]?.string else { return nil }
    return try await client.get("/v1/runs/\(id)")
  }

  /// A run's output as the handler wrote it.
  static func output(of run: ControlClient.Answer) -> [UInt8]? {
    if let json = run.node["output"] { return run.raw(json) }
    return run.node["output_base64"]?.string.flatMap(Base64.decode)
  }

  private func printJSON(_ end: OccurrenceFollower.End, submission: ControlClient.Answer, run: ControlClient.Answer?) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("submission")
    writer.raw(submission.bytes)
    writer.member("outcome", "\(end)")
    if let run {
      writer.name("run")
      writer.raw(run.bytes)
    }
    writer.endObject()
    Terminal.print(writer.bytes)
  }
}
