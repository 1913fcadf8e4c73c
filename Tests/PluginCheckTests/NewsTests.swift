import TaskModel
import Testing

@testable import PluginCheck

@Suite("What case processes are told and tell") struct NewsTests {
  @Test("an order is read as it was written")
  func order() throws {
    let order = CaseOrder(
      tried: .expireInRun, file: "/plugins/a b.so", dataDirectory: "/data\n", handlerLimit: 2, identifier: "org.example.a",
      settings: "{\"ä\": \"12:\"}", payload: [0, 255, 10, 58], seed: .max, budget: 5000, grace: 0)
    #expect(CaseOrder(decoding: order.encode()) == order)
  }

  @Test("bytes that are cut off or no order are none", arguments: [[], [1], Array("10\n3:abc".utf8), Array("99999\n".utf8)])
  func notAnOrder(_ bytes: [UInt8]) { #expect(CaseOrder(decoding: bytes) == nil) }

  @Test("news are read one after the other, the last only when it is complete")
  func news() throws {
    let registration = HandlerRegistration(
      identifier: try TaskIdentifier("org.example.a"), kind: .processing, budget: .milliseconds(70), maxConcurrentRuns: 3, version: "1")
    let all: [CaseNews] = [
      .at("a: b\n"), .registered(registration), .finding(CheckFinding(.warning, seen: "s", rule: "r", detail: "d\ne")), .done("x"),
    ]
    let bytes = all.flatMap { $0.encode() }
    for count in [bytes.count, bytes.count - 1] {
      var rest = bytes[..<count]
      var read: [CaseNews] = []
      while let fields = Fields.take(from: &rest), let item = CaseNews(fields) { read.append(item) }
      #expect(read == (count == bytes.count ? all : Array(all.dropLast())))
    }
  }

  @Test("a seed gives each case its own numbers, always the same")
  func random() {
    var first = SeededRandom(seed: 5, for: "run")
    var again = SeededRandom(seed: 5, for: "run")
    var other = SeededRandom(seed: 5, for: "many")
    let bytes = first.bytes(32)
    #expect(again.bytes(32) == bytes)
    #expect(other.bytes(32) != bytes)
  }

  @Test("every case has a name and a summary of its own")
  func names() {
    #expect(Set(CheckCase.allCases.map(\.rawValue)).count == CheckCase.allCases.count)
    #expect(Set(CheckCase.allCases.map(\.summary)).count == CheckCase.allCases.count)
  }
}
