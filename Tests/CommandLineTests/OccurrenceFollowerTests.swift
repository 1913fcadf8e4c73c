import Testing

@testable import TaskHostClient
@testable import taskhost

@Suite("Following an occurrence") struct OccurrenceFollowerTests {
  /// Members that every event of the kind has.
  private static let usual = [
    "run": #"{"identifier":"i","attempt":1,"started_unix_ms":1,"#,
    "request": #"{"identifier":"i","attempt":1,"losses":0,"tags":[],"#,
  ]

  private func apply(_ follower: inout OccurrenceFollower, _ name: String, _ json: String) throws -> OccurrenceFollower.Step? {
    let text = Self.usual[name].map { $0 + json.dropFirst() } ?? json
    return follower.apply(try StreamEvent(name, try Answer(Array(text.utf8))))
  }

  @Test(
    "a run's outcome that is final ends it",
    arguments: [("succeeded", OccurrenceFollower.End.succeeded), ("noop", .succeeded), ("failed", .failed), ("cancelled", .cancelled)])
  func final(_ outcome: String, _ end: OccurrenceFollower.End) throws {
    for isRepeating in [false, true] {
      var follower = OccurrenceFollower(request: "q", isRepeating: isRepeating)
      #expect(try apply(&follower, "run", "{\"id\":\"r\",\"request\":\"q\"}") == .began(attempt: 1))
      let step = try apply(&follower, "run", "{\"id\":\"r\",\"request\":\"q\",\"outcome\":\"\(outcome)\"}")
      #expect(step == .ended(end))
      #expect(follower.lastRun == "r")
    }
  }

  @Test("a retry is told and followed on; the last one fails it")
  func retry() throws {
    var follower = OccurrenceFollower(request: "q", isRepeating: false)
    let retried = "{\"id\":\"r\",\"request\":\"q\",\"outcome\":\"retried\",\"message\":\"no net\"}"
    #expect(try apply(&follower, "run", retried) == nil)
    let pending = "{\"id\":\"q\",\"state\":\"pending\",\"attempts_spent\":1,\"due_unix_ms\":5}"
    #expect(try apply(&follower, "request", pending) == .again(outcome: "retried", message: "no net", dueUnixMilliseconds: 5))
    #expect(try apply(&follower, "run", retried) == nil)
    #expect(try apply(&follower, "request", "{\"id\":\"q\",\"state\":\"failed\",\"attempts_spent\":1}") == .ended(.failed))
  }

  @Test("a repeating request that spent its attempts has failed, though it is pending again")
  func repeating() throws {
    var follower = OccurrenceFollower(request: "q", isRepeating: true)
    let retried = "{\"id\":\"r\",\"request\":\"q\",\"outcome\":\"crashed\"}"
    let pending: (Int) -> String = { "{\"id\":\"q\",\"state\":\"pending\",\"attempts_spent\":\($0),\"due_unix_ms\":5}" }
    #expect(try apply(&follower, "request", pending(0)) == nil)
    #expect(try apply(&follower, "run", retried) == nil)
    #expect(try apply(&follower, "request", pending(1)) == .again(outcome: "crashed", message: nil, dueUnixMilliseconds: 5))
    #expect(try apply(&follower, "run", retried) == nil)
    #expect(try apply(&follower, "request", pending(0)) == .ended(.failed))
  }

  @Test("a snooze and a stop are followed on", arguments: ["snoozed", "stopped"])
  func followedOn(_ outcome: String) throws {
    var follower = OccurrenceFollower(request: "q", isRepeating: true)
    _ = try apply(&follower, "run", "{\"id\":\"r\",\"request\":\"q\",\"outcome\":\"\(outcome)\"}")
    let step = try apply(&follower, "request", "{\"id\":\"q\",\"state\":\"pending\",\"attempts_spent\":0,\"due_unix_ms\":5}")
    #expect(step == .again(outcome: outcome, message: nil, dueUnixMilliseconds: 5))
  }

  @Test("progress beyond what an Int64 holds is exact")
  func hugeProgress() throws {
    var follower = OccurrenceFollower(request: "r", isRepeating: false)
    let step = try apply(
      &follower, "progress", "{\"request\":\"r\",\"progress\":{\"completed\":18446744073709551615,\"total\":1}}")
    #expect(
      step
        == .progress(ProgressAnswer(completed: ProgressAnswer.Count(.max), total: ProgressAnswer.Count(1), unit: nil, message: nil)))
  }

  @Test("work is exact, also beyond what an Int64 holds")
  func work() throws {
    var follower = OccurrenceFollower(request: "q", isRepeating: false)
    let sums = "\"items_attempted\":3,\"items_completed\":2,\"items_failed\":1,\"bytes_in\":18446744073709551615,\"bytes_out\":0"
    guard case .work(let work) = try apply(&follower, "work", "{\"run\":\"r\",\"request\":\"q\",\"work\":{\(sums)}}") else {
      Issue.record("no work")
      return
    }
    #expect(work.bytesIn.value == .max)
    var bar = ProgressBar()
    bar.take(work)
    #expect(bar.line(columns: 79, at: 0).hasPrefix("running: 2 of 3 items, 1 failed, "))
    bar.take(ProgressAnswer(completed: ProgressAnswer.Count(1), total: ProgressAnswer.Count(2), unit: nil, message: nil), at: 0)
    #expect(bar.line(columns: 79, at: 0).hasSuffix("50 %, 1 of 2"))
    #expect(try apply(&follower, "work", "{\"run\":\"r\",\"request\":\"other\",\"work\":{\(sums)}}") == nil)
  }

  @Test("the request's end alone is enough, and other requests are nobody's business here")
  func others() throws {
    var follower = OccurrenceFollower(request: "q", isRepeating: false)
    #expect(try apply(&follower, "request", "{\"id\":\"other\",\"state\":\"failed\",\"attempts_spent\":1}") == nil)
    #expect(try apply(&follower, "run", "{\"id\":\"r\",\"request\":\"other\",\"outcome\":\"failed\"}") == nil)
    #expect(try apply(&follower, "progress", "{\"request\":\"other\",\"progress\":{\"completed\":1,\"total\":2}}") == nil)
    #expect(try apply(&follower, "request", "{\"id\":\"q\",\"state\":\"cancelled\",\"attempts_spent\":1}") == .ended(.cancelled))
  }
}
