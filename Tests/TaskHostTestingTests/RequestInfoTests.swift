import CTaskHost
import FoundationEssentials
import TaskHostSDK
import TaskHostTesting
import Testing

/// What a handler can ask about requests, runs and the machine, through the real runtime, scheduler and store.
@Suite("Requests in full", .timeLimit(.minutes(10)))
struct RequestInfoTests {
  /// A request with every field that code can set.
  private static func whole(_ identifier: String) -> TaskRequest {
    var request = TaskRequest(
      identifier: identifier, payload: Array(#"{"b": 1, "a": [2, "}\""]}"#.utf8), earliestBegin: Date(timeIntervalSince1970: 1_900_000_000),
      uniqueKey: "k", onConflict: .update, conditions: [.network, .batteryNotLow])
    request.deadline = Date(timeIntervalSince1970: 1_950_000_000)
    request.repetition = .cron(
      "30 2 * * *", timeZone: "Europe/Berlin", daylight: TaskRequest.Daylight(gap: .skip, repeated: .both),
      missed: .all(limit: 3, spread: .seconds(5)))
    request.flex = .seconds(60)
    request.jitter = .seconds(50)
    request.wake = true
    request.priority = -4
    request.retry = TaskRequest.Retry(attempts: 3, backoff: .linear, initial: .seconds(2), maximum: .seconds(4))
    request.onLostCondition = .finish
    request.tags = ["a", "b"]
    request.concurrencyKey = "c"
    request.prefer = "eu-west"
    request.idempotencyKey = "i"
    request.uniqueWindow = .seconds(90)
    return request
  }

  /// Plugins may wake the machine.
  private static var waking: TestHostOptions {
    var options = TestHostOptions()
    options.mayWake = true
    return options
  }

  @Test("do not wake the machine without the operator's permission")
  func mayNotWake() async throws {
    let host = try TestHost.with { task in
      var request = TaskRequest(identifier: task.identifier)
      let id = try task.submit(request).requestID
      request.wake = true
      for refused in [
        #expect(throws: TaskHostError.self) { try task.submit(request) },
        #expect(throws: TaskHostError.self) { try task.update(id, with: request) },
      ] {
        #expect(refused?.code == .notPermitted && refused?.message.contains("set may_wake = true") == true)
      }
      #expect(try task.request(id).request.wake == false)
      return .success
    }
    #expect(try await host.run().result == .success)
  }

  @Test("show every field as it was submitted")
  func fields() async throws {
    let host = try TestHost.with(options: Self.waking) { task in
      let submitted = Self.whole(task.identifier)
      let id = try task.submit(submitted).requestID
      let info = try task.request(id)
      #expect(info.id == id && info.state == .pending && info.attempt == 1 && info.started == nil && info.lastOutcome == nil)
      #expect("\(info.request)" == "\(submitted)")
      #expect(info.submitted == task.now)
      #expect(try task.requests().map(\.id) == [id, task.requestID])
      #expect(try task.requests(of: task.identifier).map(\.state) == [.pending, .running])
      return .success
    }
    #expect(try await host.run().result == .success)
  }

  @Test(
    "payloads come back byte for byte",
    arguments: ["", "x", "\u{0}", "[]", #"{"payload":"payload"}"#, #""a\"b""#, " 1 ", "12345678901234567890.10"])
  func payloads(_ text: String) async throws {
    let host = try TestHost.with { task in
      let id = try task.submit(TaskRequest(identifier: task.identifier, payload: Array(text.utf8), earliestBegin: .distantFuture)).requestID
      #expect(try task.request(id).request.payload == Array(text.utf8))
      return .success
    }
    #expect(try await host.run().result == .success)
  }

  @Test("are changed: what is left out is as if it had never been said, and keys stay")
  func update() async throws {
    let host = try TestHost.with(options: Self.waking) { task in
      let id = try task.submit(Self.whole(task.identifier)).requestID
      var fields = try task.request(id).request
      fields.priority = 7
      fields.tags = ["c"]
      fields.payload = [1]
      #expect(try task.update(id, with: fields).disposition == .updated)
      #expect("\(try task.request(id).request)" == "\(fields)")
      try task.update(id, with: TaskRequest(identifier: task.identifier))
      let bare = try task.request(id).request
      #expect(bare.uniqueKey == "k" && bare.idempotencyKey == "i" && bare.repetition == nil && bare.tags == [] && bare.payload == [])
      var other = bare
      other.uniqueKey = "other"
      let error = #expect(throws: TaskHostError.self) { try task.update(id, with: other) }
      #expect(error?.code == .invalid && error?.message.contains("unique_key") == true)
      let foreign = #expect(throws: TaskHostError.self) { try task.update(id, with: TaskRequest(identifier: "com.example")) }
      #expect(foreign?.code == .notPermitted)
      return .success
    }
    #expect(try await host.run().result == .success)
  }

  @Test("are postponed")
  func snooze() async throws {
    let host = try TestHost.with { task in
      let id = try task.submit(TaskRequest(identifier: task.identifier)).requestID
      #expect(try task.snooze(id, for: .seconds(90)).nextStart == task.now.addingTimeInterval(90))
      #expect(try task.request(id).due == task.now.addingTimeInterval(90))
      let running = #expect(throws: TaskHostError.self) { try task.snooze(task.requestID, for: .seconds(1)) }
      #expect(running?.code == .invalid)
      try task.cancel(requestID: id)
      let ended = #expect(throws: TaskHostError.self) { try task.snooze(id, for: .seconds(1)) }
      #expect(ended?.code == .notFound)
      return .success
    }
    #expect(try await host.run().result == .success)
  }

  @Test("are explained, and the machine's conditions can be read")
  func explanation() async throws {
    var options = TestHostOptions()
    options.conditions.remove(.power)
    let host = try TestHost.with(options: options) { task in
      let id = try task.submit(TaskRequest(identifier: task.identifier, conditions: .power)).requestID
      let why = try task.explanation(of: id)
      #expect(why.reasons.contains { $0.contains("power") }, "\(why)")
      #expect(try task.explanation(of: task.requestID).reasons == ["it is running"])
      let conditions = try task.conditions()
      #expect(conditions.map(\.name).sorted() == ["battery_not_low", "idle", "network", "power", "storage_not_low", "unmetered"])
      #expect(conditions.filter { !$0.holds }.map(\.condition) == [.power])
      return .success
    }
    #expect(try await host.run().result == .success)
  }

  @Test("the last runs and the last success are known")
  func history() async throws {
    let host = try TestHost.with { task in
      let runs = try task.runs()
      #expect(try task.lastSuccess()?.id == runs.first { $0.outcome == .succeeded }?.id)
      guard runs.count == 2 else { return runs.isEmpty ? .success : .failure }
      #expect(runs.map(\.outcome) == [.failed, .succeeded])
      #expect(runs.allSatisfy { $0.identifier == task.identifier && $0.attempt == 1 && $0.ended >= $0.started })
      #expect(try task.runs(limit: 1).map(\.id) == [runs[0].id])
      return .success
    }
    #expect(try await host.run().result == .success)
    #expect(try await host.run().result == .failure)
    #expect(try await host.run().result == .success)
  }

  @Test("of others are shown only where the plugin may submit, and without their payloads")
  func others() async throws {
    var options = TestHostOptions()
    options.maySubmit = ["org.example.other"]
    let host = try TestHost.with(options: options) { task in
      let id = try task.submit(TaskRequest(identifier: "org.example.other", payload: [1, 2], earliestBegin: .distantFuture)).requestID
      #expect(try task.request(id).request.payload == [])
      #expect(try task.requests(of: "org.example.other").map(\.id) == [id])
      #expect(try task.requests().map(\.id) == [task.requestID])
      for ask in [{ _ = try task.requests(of: "org.foreign") }, { _ = try task.runs(of: "org.foreign") }] {
        let error = #expect(throws: TaskHostError.self) { try ask() }
        #expect(error?.code == .notPermitted)
      }
      let missing = #expect(throws: TaskHostError.self) { try task.request("01976c1e-0000-7000-8000-000000000000") }
      #expect(missing?.code == .notFound)
      return .success
    }
    #expect(try await host.run().result == .success)
  }
}
