import StrictText
import TaskHostClient

/// A submission from the command line: prints the request's id, or follows the request until one occurrence has ended.
enum Submitting {
  /// - Parameters:
  ///   - body: The body of `POST /v1/requests`, or of another route that takes requests.
  ///   - path: That route.
  ///   - wait: Whether to follow the request.
  ///   - waited: What the request waits for besides its time, for a sentence.
  static func submit(
    _ body: [UInt8], to path: String = "/v1/requests", wait: Bool, waitingFor waited: String?, _ host: HostOptions
  ) async throws {
    let client = try host.client()
    // Subscribe first, so that the stream contains everything that happens to the request.
    let events = wait ? try await client.subscribe() : nil
    let answer = try await client.post(path, body)
    let submission: SubmissionAnswer = try answer.read()
    report(submission, waitingFor: waited, host)
    let id = submission.id
    guard let events else { return Terminal.print(host.json ? answer.bytes : Array(id.utf8)) }
    var kept = submission.effective?.repetition
    if kept == nil { kept = try await client.get("/v1/requests/\(ControlClient.escape(id))").read(RequestAnswer.self).repetition }
    let session = FollowSession(
      client: client, request: id, isRepeating: kept?.repeats == true,
      existed: submission.repeated == true || submission.disposition != "created", json: host.json ? answer : nil)
    try await session.follow(events)
  }

  /// Prints further information for a person, besides the id.
  private static func report(_ submission: SubmissionAnswer, waitingFor waited: String?, _ host: HostOptions) {
    Terminal.notes(submission.notes)
    guard !host.json else { return }
    if submission.repeated == true {
      Terminal.note("repeated: \(submission.id) already exists for this idempotency key")
    } else if submission.disposition != "created" {
      Terminal.note("\(submission.disposition): \(submission.id)")
    }
    if Terminal.errorIsTerminal {
      Terminal.note(ScheduleText.start(of: submission.schedule, waitingFor: waited, now: MomentText.now))
    }
  }
}
