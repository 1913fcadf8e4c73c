import TaskModel
import Testing
import WorkerLink

@Suite("Hostile bytes") struct HostileBytesTests {
  @Test("a message that is cut anywhere is refused")
  func truncations() {
    for sample in Samples.encoded {
      for length in 0..<sample.count where !Decoding(Array(sample[..<length])).isRefused {
        Issue.record("\(length) of \(sample.count) bytes of \(sample.prefix(8)) decode")
      }
    }
  }

  @Test("a message with bytes after its end is refused", arguments: [[0], [1], [255, 255, 255, 255], Array("T\u{1}".utf8)] as [[UInt8]])
  func trailing(_ bytes: [UInt8]) {
    for sample in Samples.encoded where !Decoding(sample + bytes).isRefused {
      Issue.record("\(sample.prefix(8)) decodes with \(bytes) after it")
    }
  }

  @Test("a message with a changed byte is refused, or means exactly what it says", arguments: [0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF] as [UInt8])
  func mutations(_ value: UInt8) {
    for sample in Samples.encoded {
      for position in sample.indices {
        for changed in [value, sample[position] ^ value, sample[position] &+ value] {
          var bytes = sample
          bytes[position] = changed
          if let encoded = Decoding(bytes).encoded, encoded != bytes {
            Issue.record("byte \(position) as \(changed) decodes to another message")
          }
        }
      }
    }
  }

  @Test("a length of four gigabytes at any place takes no memory", arguments: [0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000] as [UInt32])
  func lengths(_ length: UInt32) {
    for sample in Samples.encoded {
      for position in 3..<max(3, sample.count - 3) {
        var bytes = sample
        withUnsafeBytes(of: length.littleEndian) { bytes.replaceSubrange(position..<position + 4, with: $0) }
        if let encoded = Decoding(bytes).encoded, encoded != bytes { Issue.record("\(length) at \(position) decodes to another message") }
      }
    }
  }

  @Test("a count of elements that are not there is refused")
  func counts() {
    let beginning = Array(WorkerMessage.ended([]).encode().bytes.prefix(3))
    for count in [1, 2, 4096, 4097, UInt32.max] {
      #expect(Decoding(beginning + withUnsafeBytes(of: count.littleEndian, Array.init)).isRefused)
    }
  }

  @Test("text that is not UTF-8 is refused")
  func utf8() {
    let text = "aaaa"
    for bad in [[0xC0, 0x80, 0x61, 0x61], [0xED, 0xA0, 0x80, 0x61], [0xFF, 0x61, 0x61, 0x61], [0x61, 0x61, 0x61, 0xE2]] as [[UInt8]] {
      var bytes = HostMessage.answer(number: 0, .text(text)).encode().bytes
      bytes.replaceSubrange(bytes.count - 4..<bytes.count, with: bad)
      #expect(Decoding(bytes).isRefused)
    }
  }

  @Test("an identifier against its rule is refused", arguments: ["", ".a", "a b", "ä", "a/b", String(repeating: "a", count: 129)])
  func identifiers(_ text: String) {
    let call = WorkerMessage.call(number: 0, .admit(Samples.identifier)).encode().bytes
    let beginning = call.prefix(3 + 8 + 1)
    #expect(Decoding(Array(beginning) + [UInt8(text.utf8.count)] + Array(text.utf8)).isRefused)
  }

  @Test("an event without a name, or with one that is too long, is refused", arguments: [0, 257, 70_000])
  func events(_ length: Int) {
    let call = WorkerMessage.call(number: 0, .notify(Samples.run, event: String(repeating: "e", count: length), payload: nil))
    #expect(Decoding(call.encode().bytes).isRefused)
  }

  @Test("a payload of an event that is too long is refused")
  func eventPayload() {
    func call(_ length: Int) -> Decoding {
      Decoding(WorkerMessage.call(number: 0, .notify(Samples.run, event: "e", payload: Array(repeating: 1, count: length))).encode().bytes)
    }
    #expect(!call(Limits.payloadBytes).isRefused)
    #expect(call(Limits.payloadBytes + 1).isRefused)
  }

  @Test("a question that is not defined is refused", arguments: [0, 7, 255] as [UInt8])
  func questions(_ code: UInt8) {
    var bytes = WorkerMessage.call(number: 0, .ask(Samples.run, .conditions)).encode().bytes
    bytes[bytes.count - 1] = code
    #expect(Decoding(bytes).isRefused)
  }

  @Test("an update with fields that no plugin may set is refused")
  func updates() {
    var fields = TaskRequest(identifier: Samples.identifier)
    fields.priority = Limits.priorities.upperBound + 1
    #expect(Decoding(WorkerMessage.call(number: 0, .update(Samples.run, Samples.request, with: fields)).encode().bytes).isRefused)
    fields.priority = 0
    fields.event = EventTrigger("file:etc/passwd")
    #expect(Decoding(WorkerMessage.call(number: 0, .update(Samples.run, Samples.request, with: fields)).encode().bytes).isRefused)
  }

  @Test("a page of more texts than there may be is refused")
  func pages() {
    let texts = Array(repeating: [UInt8](), count: AnswerPage.countLimit)
    #expect(!Decoding(HostMessage.answer(number: 0, .page(AnswerPage(texts: texts))).encode().bytes).isRefused)
    #expect(Decoding(HostMessage.answer(number: 0, .page(AnswerPage(texts: texts + [[]]))).encode().bytes).isRefused)
  }

  @Test("a traceparent that is none, or is written in another way, is refused", arguments: ["01", "ff", "0G"])
  func traces(_ version: String) {
    var request = TaskRequest(identifier: Samples.identifier)
    request.traceparent = Samples.trace
    var bytes = WorkerMessage.call(number: 0, .submit(Samples.run, request)).encode().bytes
    #expect(!Decoding(bytes).isRefused)
    // The text is the last field.
    bytes.replaceSubrange(bytes.count - TraceParent.textBytes..<bytes.count - TraceParent.textBytes + 2, with: version.utf8)
    #expect(Decoding(bytes).isRefused)
  }

  @Test("an id with bits that no id has is refused", arguments: [(10, 0x10), (18, 0x40)] as [(Int, UInt8)])
  func ids(_ offset: Int, _ bit: UInt8) {
    var bytes = HostMessage.expire(Samples.otherRun, .budget).encode().bytes
    bytes[offset] |= bit
    #expect(Decoding(bytes).isRefused)
  }

  @Test("work that ends more items than it began is refused")
  func work() {
    var bytes = WorkerMessage.work(Samples.run, RunWork(itemsCompleted: 3)).encode().bytes
    // The attempted items are the first of five counts, at the end.
    bytes[bytes.count - 40] = 2
    #expect(throws: LinkError.malformed(what: "work ends more items than it began")) {
      try WorkerMessage(decoding: ReceivedMessage(bytes: bytes))
    }
  }

  @Test("progress beyond its total is refused")
  func progress() {
    var bytes = WorkerMessage.progress(Samples.run, RunProgress(completed: 3, total: 3)).encode().bytes
    // Behind the total: no unit, no message.
    bytes[bytes.count - 10] = 2
    #expect(Decoding(bytes).isRefused)
  }

  @Test("noise is refused")
  func noise() {
    var generator = SystemRandomNumberGenerator()
    for round in 0..<20_000 {
      let kind: UInt8 = round.isMultiple(of: 2) ? .random(in: 1...6) : .random(in: 65...76)
      let bytes =
        [0x54, UInt8(LinkFormat.version), kind] + (0..<Int.random(in: 0...64)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      if let encoded = Decoding(bytes).encoded, encoded != bytes { Issue.record("\(bytes) decodes to another message") }
    }
  }
}
