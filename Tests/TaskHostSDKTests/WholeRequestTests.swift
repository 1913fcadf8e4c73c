import CTaskHost
import FoundationEssentials
import Testing

@testable import TaskHostSDK

@Suite("Requests in C") struct WholeRequestTests {
  private static var whole: TaskRequest {
    var request = TaskRequest(identifier: "org.taskhost.tests", uniqueKey: "k", onConflict: .update)
    request.delay = .microseconds(1500)
    request.deadline = Date(timeIntervalSince1970: 1_700_000_000)
    request.repetition = .cron(
      "@daily", timeZone: "UTC", daylight: .init(gap: .skip, repeated: .both), missed: .all(limit: 3, spread: .seconds(1)))
    request.flex = .seconds(2)
    request.jitter = .seconds(7)
    request.wake = true
    request.event = "e"
    request.debounce = .seconds(3)
    request.after = [.init("1"), .init("2", onFailure: .ignore)]
    request.window = "night"
    request.priority = -3
    request.retry = .init(attempts: 7, backoff: .linear, initial: .seconds(4), maximum: .seconds(5))
    request.onLostCondition = .finish
    request.tags = ["a", "ä"]
    request.resources = ["b": 2, "a": 1]
    request.concurrencyKey = "c"
    request.prefer = "eu-west"
    request.idempotencyKey = "i"
    request.uniqueWindow = .seconds(6)
    return request
  }

  @Test("every field is in the C form")
  func everyField() throws {
    try Self.whole.withCValue { pointer in
      let raw = pointer.pointee
      #expect(raw.struct_size == MemoryLayout<taskhost_request>.size)
      #expect(raw.delay_ms == 2 && raw.deadline_unix_ms == 1_700_000_000_000 && raw.flex_ms == 2000 && raw.jitter_ms == 7000)
      #expect(raw.wake == 1 && raw.reserved2 == 0)
      #expect(String(cString: raw.cron) == "@daily" && String(cString: raw.time_zone) == "UTC")
      #expect(Int(raw.daylight_gap) == TASKHOST_GAP_SKIP && Int(raw.daylight_repeat) == TASKHOST_REPEAT_BOTH)
      #expect(Int(raw.missed) == TASKHOST_MISSED_ALL && raw.missed_limit == 3 && raw.missed_spread_ms == 1000)
      #expect(String(cString: raw.event) == "e" && raw.debounce_ms == 3000 && raw.every_event == 0 && raw.every_ms == 0)
      #expect(raw.after_count == 2)
      #expect(String(cString: raw.after[0].request) == "1" && Int(raw.after[0].on_failure) == TASKHOST_ON_FAILURE_FAIL)
      #expect(String(cString: raw.after[1].request) == "2" && Int(raw.after[1].on_failure) == TASKHOST_ON_FAILURE_IGNORE)
      #expect(String(cString: raw.window) == "night" && raw.priority == -3)
      #expect(raw.retry.pointee.attempts == 7 && Int(raw.retry.pointee.backoff) == TASKHOST_BACKOFF_LINEAR)
      #expect(raw.retry.pointee.initial_ms == 4000 && raw.retry.pointee.maximum_ms == 5000)
      #expect(Int(raw.on_lost_condition) == TASKHOST_LOST_CONDITION_FINISH)
      #expect((0..<Int(raw.tags_count)).map { raw.tags[$0].map { String(cString: $0) } } == ["a", "ä"])
      #expect((0..<Int(raw.resources_count)).map { String(cString: raw.resources[$0].name) } == ["a", "b"])
      #expect((0..<Int(raw.resources_count)).map { raw.resources[$0].tokens } == [1, 2])
      #expect(String(cString: raw.concurrency_key) == "c" && String(cString: raw.idempotency_key) == "i")
      #expect(raw.unique_window_ms == 6000)
      #expect(String(cString: raw.prefer) == "eu-west")
    }
  }

  @Test("a request that says nothing more is zero from the second header's members on")
  func plain() throws {
    try TaskRequest(identifier: "org.taskhost.tests").withCValue { pointer in
      let bytes = UnsafeRawBufferPointer(start: pointer, count: MemoryLayout<taskhost_request>.size)
      #expect(bytes.dropFirst(56).allSatisfy { $0 == 0 })
    }
  }

  @Test(
    "a number that would say nothing in C is refused instead of being left out",
    arguments: [
      { $0.repetition = .every(.zero) }, { $0.repetition = .every(.seconds(-1)) }, { $0.uniqueWindow = .zero },
      { $0.retry = .init(attempts: 0) }, { $0.retry = .init(initial: .zero) }, { $0.retry = .init(maximum: .zero) },
      { $0.repetition = .every(.seconds(900), missed: .all(limit: 0)) },
      { $0.repetition = .cron("@daily", missed: .all(spread: .zero)) },
    ] as [@Sendable (inout TaskRequest) -> Void])
  func nothing(_ change: @Sendable (inout TaskRequest) -> Void) {
    var request = TaskRequest(identifier: "org.taskhost.tests")
    change(&request)
    let error = #expect(throws: TaskHostError.self) { try request.withCValue { _ in } }
    #expect(error?.code == .invalid)
  }

  @Test("a number beyond C's stays beyond the host's limit")
  func clamped() throws {
    var request = TaskRequest(identifier: "org.taskhost.tests")
    request.priority = .min
    request.retry = .init(attempts: .max)
    request.resources = ["gpu": -1]
    request.repetition = .every(.seconds(Int64.max))
    try request.withCValue { pointer in
      #expect(pointer.pointee.priority == .min && pointer.pointee.retry.pointee.attempts == .max)
      #expect(pointer.pointee.resources[0].tokens == 0 && pointer.pointee.every_ms == .max)
    }
  }

  @Test(
    "a text with a NUL byte is refused instead of being cut",
    arguments: [
      { $0.tags = ["a\0b"] }, { $0.event = "\0" }, { $0.repetition = .cron("@daily\0") }, { $0.resources = ["\0": 1] },
      { $0.after = [.init("\0")] }, { $0.window = "\0" }, { $0.concurrencyKey = "\0" }, { $0.prefer = "\0" }, { $0.idempotencyKey = "\0" },
    ] as [@Sendable (inout TaskRequest) -> Void])
  func cut(_ change: @Sendable (inout TaskRequest) -> Void) {
    var request = TaskRequest(identifier: "org.taskhost.tests")
    change(&request)
    #expect(throws: TaskHostError.self) { try request.withCValue { _ in } }
  }
}
