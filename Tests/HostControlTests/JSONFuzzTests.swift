import StrictText
import TaskModel
import Testing

@testable import HostControl

/// A small generator with a seed, so that a failure can be repeated (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

@Suite("JSON fuzz") struct JSONFuzzTests {
  private static let seedText = Array(
    """
    [{"identifier":"org.example.a","payload":{"a":[1,2.5e3,null,true],"é":"\\u00e9\\n"},"priority":-3,"tags":["x","y"],
    "retry":{"attempts":3,"backoff":"linear"},"delay_ms":1500,"unique_key":"\\ud83d\\ude00"},
    {"identifier":"b","cron":"0 8 * * *","time_zone":"UTC","missed":"all","missed_limit":3,"resources":{"gpu":1},"deadline_unix_ms":9},
    {"identifier":"c","event":"e","every_event":true,"debounce_ms":5},{"identifier":"d","after":["@0",{"request":"@1","on_failure":"fail"}]}]
    """.utf8)
  private static let interesting = Array("{}[]\",:\\u0e-+.tfn \n\u{1F600}".utf8) + [0, 0x80, 0xC0, 0xED, 0xFF]

  @Test("mutated texts are read or refused, and what is read is read again the same from its own range", arguments: 1...8)
  func mutations(_ seed: UInt64) {
    var generator = SeededGenerator(state: seed)
    for _ in 0..<400 {
      var bytes = Self.seedText
      for _ in 0..<Int.random(in: 1...6, using: &generator) { mutate(&bytes, &generator) }
      guard let node = try? JSONReader.read(bytes) else { continue }
      #expect(JSONReader.isValid(bytes), "seed \(seed)")
      if let requests = try? SubmissionReader.read(bytes).requests {
        #expect(requests.allSatisfy { Limits.priorities.contains($0.priority) }, "seed \(seed)")
        for (index, request) in requests.enumerated() {
          for edge in request.after {
            if case .position(let position) = edge.predecessor { #expect(0..<index ~= position, "seed \(seed)") }
          }
        }
      }
      check(node, in: bytes, seed: seed)
    }
  }

  @Test("written values are read back the same", arguments: 1...8)
  func roundTrip(_ seed: UInt64) throws {
    var generator = SeededGenerator(state: seed)
    for _ in 0..<100 {
      let texts = (0..<8).map { _ in randomText(&generator) }
      let numbers = (0..<8).map { _ in Int64.random(in: .min ... .max, using: &generator) }
      var writer = JSONWriter()
      writer.beginObject()
      for (index, text) in texts.enumerated() {
        writer.member("\(index)\(text)", text)
        writer.member("n\(index)", numbers[index])
      }
      writer.endObject()
      #expect(!writer.bytes.contains(UInt8(ascii: "\n")))
      let node = try JSONReader.read(writer.bytes)
      for (index, text) in texts.enumerated() {
        #expect(node["\(index)\(text)"]?.string == text)
        #expect(node["n\(index)"]?.integer == numbers[index])
      }
    }
  }

  private func randomText(_ generator: inout SeededGenerator) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
      let value = UInt32.random(in: 0...(Bool.random(using: &generator) ? 0x7F : 0x10FFFF), using: &generator)
      if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
    }
    return text
  }

  private func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
    guard !bytes.isEmpty else { return }
    let index = Int.random(in: 0..<bytes.count, using: &generator)
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: bytes[index] = Self.interesting.randomElement(using: &generator) ?? 0
    case 1: bytes.remove(at: index)
    case 2: bytes.insert(Self.interesting.randomElement(using: &generator) ?? 0, at: index)
    default: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...20, using: &generator)))
    }
  }

  private func check(_ node: JSONNode, in bytes: [UInt8], seed: UInt64) {
    let again = try? JSONReader.read(Array(bytes[node.range]))
    #expect(again?.range.count == node.range.count, "seed \(seed)")
    switch node.value {
    case .array(let elements): for element in elements { check(element, in: bytes, seed: seed) }
    case .object(let members): for member in members { check(member.node, in: bytes, seed: seed) }
    default: #expect(again?.value == node.value, "seed \(seed)")
    }
  }
}
