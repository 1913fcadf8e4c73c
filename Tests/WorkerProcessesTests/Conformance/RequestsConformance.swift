import LauncherConformance
import TaskModel
import Testing

@Suite("Both launchers: own pending requests") struct RequestsConformance {
  private static let first = HandlerIdentifiers.named("test.runtime.requests")
  private static let second = HandlerIdentifiers.named("test.runtime.requests.second")

  /// Identifiers that tests spell.
  private enum HandlerIdentifiers {
    static func named(_ text: String) -> TaskIdentifier {
      guard let identifier = try? TaskIdentifier(text) else { preconditionFailure("\(text) is not an identifier") }
      return identifier
    }
  }

  private static func pending(_ number: Int64, of identifier: TaskIdentifier = first, payload: [UInt8] = []) -> PendingRequest {
    PendingRequest(
      id: RequestID(sequence: number, origin: 7), identifier: identifier, nextStart: WallTime(unixMilliseconds: number),
      payload: payload)
  }

  /// The output of a run that succeeds.
  private func output(_ bench: Bench, _ step: String) async throws -> String {
    let launched = try await bench.launch("runtime_requests", handlerLimit: 2)
    let contract = try bench.add(launched)
    let end = try await bench.run(contract, payload: Array(step.utf8))
    #expect(end.ending == .returned(.success, stop: nil), "\(end.report.message ?? "")")
    return String(decoding: end.report.output, as: UTF8.self)
  }

  @Test("a visitor is shown every field, on the thread that lists", arguments: Isolation.allCases)
  func fields(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    var later = Self.pending(2, of: Self.second, payload: Array("{\"a\":1}".utf8))
    later.earliestBegin = WallTime(unixMilliseconds: 1_800_000_000_000)
    later.nextStart = WallTime(unixMilliseconds: 1_900_000_000_000)
    later.attempt = 3
    later.conditions = [.network, .storageNotLow]
    bench.services.setPending([Self.pending(1), later])
    let lines = try await output(bench, "list").split(separator: "\n")
    #expect(
      lines == [
        "test.runtime.requests \(RequestID(sequence: 1, origin: 7)) kind 1 attempt 1 begin 0 start 1 conditions 0: ",
        """
        test.runtime.requests.second \(later.id) kind 2 attempt 3 begin 1800000000000 start 1900000000000 conditions 33: {"a":1}
        """,
      ])
  }

  @Test("at most 1,000 requests are shown, the oldest", arguments: Isolation.allCases)
  func limit(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    bench.services.setPending((1...1500).map { Self.pending($0, payload: $0 <= 1000 ? [1] : [1, 2]) })
    #expect(try await output(bench, "count") == "1000 1000")
  }

  @Test("a list of 64 MiB is shown whole, page by page", arguments: Isolation.allCases)
  func large(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let payload = [UInt8](repeating: 0x78, count: Limits.payloadBytes)
    bench.services.setPending((1...1000).map { Self.pending($0, payload: payload) })
    #expect(try await output(bench, "count") == "1000 \(1000 * Limits.payloadBytes)")
  }

  @Test("a store that fails on the way ends the list with that", arguments: Isolation.allCases)
  func broken(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    bench.services.setPending((1...600).map { Self.pending($0) }, pages: 1)
    #expect(try await output(bench, "broken") == "\(PendingPage.requestLimit)")
  }

  @Test("nothing pending is an empty list", arguments: Isolation.allCases)
  func none(_ isolation: Isolation) async throws { #expect(try await output(try Bench(isolation), "list") == "") }

  @Test("a visitor that calls the host back, listing and cancelling, does not hang", arguments: Isolation.allCases)
  func nested(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    bench.services.setPending((1...5).map { Self.pending($0) })
    #expect(try await output(bench, "nested") == "5")
    #expect(bench.services.cancelled == Array(repeating: nil, count: 5))
  }

  @Test("another thread of the run may list", arguments: Isolation.allCases)
  func thread(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    bench.services.setPending((1...3).map { Self.pending($0) })
    #expect(try await output(bench, "thread") == "3")
  }

  @Test("cancelling reaches the host, and its count the plugin", arguments: Isolation.allCases)
  func cancel(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    bench.services.setPending((1...42).map { Self.pending($0) })
    #expect(try await output(bench, "cancel") == "42")
    #expect(bench.services.cancelled == [Self.first, nil])
  }

  @Test("an event reaches the host, and the number of requests that wait for it the plugin", arguments: Isolation.allCases)
  func notify(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    #expect(try await output(bench, "notify") == "3")
    #expect(bench.services.events.map(\.name) == ["\(Self.first).a", "\(Self.first).b", "\(Self.first)"])
    #expect(bench.services.events.map(\.payload) == [nil, [], [0, 0x78]])
  }

  @Test("a question reaches the host, page by page, and its texts the plugin", arguments: Isolation.allCases)
  func ask(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    _ = try await output(bench, "ask")
    let questions = bench.services.questions
    #expect(questions.count > 10)
    guard case .requests(of: Self.first, after: nil) = questions[0], case .requests(of: Self.first, after: let next?) = questions[1] else {
      Issue.record("\(questions)")
      return
    }
    #expect(questions[3] == .requests(of: Self.second, after: nil))
    #expect(questions.contains(.request(next)) && questions.contains(.explanation(of: next)) && questions.contains(.conditions))
    #expect(questions.last == .lastSuccess(of: Self.first))
  }

  @Test("a change of a request reaches the host with all its fields", arguments: Isolation.allCases)
  func change(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    _ = try await output(bench, "change")
    #expect(bench.services.snoozed == [.milliseconds(1500), .milliseconds(2000)])
    #expect(bench.services.updated == [TaskRequest(identifier: Self.second, payload: [0x70], priority: 3)])
  }

  @Test("handles that name no run, malformed arguments and unknown extensions are refused", arguments: Isolation.allCases)
  func refusals(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    bench.services.setPending([Self.pending(1)])
    #expect(try await output(bench, "refusals") == "")
    #expect(bench.services.cancelled == [])
    #expect(bench.services.events.isEmpty && bench.services.questions.isEmpty)
    #expect(bench.services.snoozed.isEmpty && bench.services.updated.isEmpty)
  }

  // MARK: While launching

  @Test("a launch is shown what is pending, and what it submits and cancels is held in order", arguments: Isolation.allCases)
  func launch(_ isolation: Isolation) async throws {
    let policy = OpenPolicy(pending: [Self.pending(1, payload: [0x61]), Self.pending(2, of: Self.second)])
    let launched = try await Bench(isolation).launch("runtime_requests", ["AT_LAUNCH"], policy: policy, handlerLimit: 2)
    #expect(
      launched.changes == [
        .submit(TaskRequest(identifier: Self.first)), .cancel([Self.second]), .submit(TaskRequest(identifier: Self.second)),
        .cancel([Self.first, Self.second]),
      ])
    #expect(launched.askedForRequests)
    let line = try #require(policy.logged.first)
    #expect(line.contains("test.runtime.requests \(RequestID(sequence: 1, origin: 7)) kind 1 attempt 1"), "\(line)")
    #expect(line.contains("test.runtime.requests.second \(RequestID(sequence: 2, origin: 7)) kind 2 attempt 1"), "\(line)")
  }

  @Test("a launch that does not ask says so", arguments: Isolation.allCases)
  func quiet(_ isolation: Isolation) async throws {
    let launched = try await Bench(isolation).launch("runtime_requests", handlerLimit: 2)
    #expect(!launched.askedForRequests)
    #expect(launched.changes == [])
  }

  @Test("a launch may submit and cancel 1,000 times", arguments: Isolation.allCases)
  func tooMany(_ isolation: Isolation) async throws {
    let launched = try await Bench(isolation).launch("runtime_requests", ["AT_LAUNCH", "TOO_MANY"], handlerLimit: 2)
    #expect(launched.changes.count == 1000)
  }
}
