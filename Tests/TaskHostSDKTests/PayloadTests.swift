import CTaskHost
import FoundationEssentials
import TaskHostSDK
import Testing

@Suite("Payload", .timeLimit(.minutes(10)))
struct PayloadTests {
  struct Order: Decodable, Equatable {
    struct Item: Decodable, Equatable { let name: String }
    var items: [Item]?
    var due: Date?
  }

  @Test("is decoded before run, with the bytes and the run's names beside it")
  func decoded() async throws {
    let text = #"{"items":[{"name":"x"}],"due":"2026-01-31T08:30:00.250Z"}"#
    let host = FakeHost()
    _ = ClosureTask<Order>.launch(on: host) { task in
      #expect(task.payload.items == [Order.Item(name: "x")])
      #expect(task.payload.due == Date(timeIntervalSince1970: 1_769_848_200.25))
      #expect(task.payloadBytes == Array(text.utf8))
      #expect(task.identifier == "org.taskhost.tests.closure")
      #expect(task.requestID.hasPrefix("request-"))
      #expect(task.attempt == 3)
      #expect(task.now == Date(timeIntervalSince1970: 1_700_000_000.25))
      return .success
    }
    #expect(await (try host.start(payload: text, attempt: 3)).end().result == taskhost_result(TASKHOST_SUCCESS))
  }

  @Test("without bytes is decoded as {}")
  func empty() async throws {
    let host = FakeHost()
    _ = ClosureTask<Order>.launch(on: host) { task in
      #expect(task.payload == Order())
      #expect(task.payloadBytes == [])
      return .success
    }
    #expect(await (try host.start()).end().result == taskhost_result(TASKHOST_SUCCESS))
  }

  @Test("that does not decode fails the run, never calls it, and names the place")
  func undecodable() async throws {
    let host = FakeHost()
    _ = ClosureTask<Order>.launch(on: host) { _ in
      Issue.record("run was called")
      return .success
    }
    for (payload, message) in [
      (#"{"items":[{"name":"x"},{}]}"#, "payload.items[1].name: missing"),
      (#"{"due":"soon"}"#, "payload.due: not a date like 2026-01-31T08:30:00Z"),
    ] {
      let record = await (try host.start(payload: payload)).end()
      #expect(record.result == taskhost_result(TASKHOST_FAILURE))
      #expect(record.message == message)
    }
    let record = await (try host.start(payload: "{")).end()
    #expect(record.result == taskhost_result(TASKHOST_FAILURE))
    #expect(record.message?.hasPrefix("payload: ") == true)
  }

  @Test("NoPayload takes any bytes")
  func noPayload() async throws {
    let host = FakeHost()
    _ = ClosureTask<NoPayload>.launch(on: host) { task in
      try task.setOutput(task.payloadBytes)
      return .success
    }
    let record = await (try host.start(payload: "not JSON")).end()
    #expect(record.output == Array("not JSON".utf8))
  }
}
