import PluginTrust
import Testing

/// Random damage from a fixed seed: whatever the bytes, a scan returns, and takes the file or refuses it with a sentence.
@Suite("Mutated plugins") struct MutationTests {
  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var value = state
      value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
      value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
      return value ^ (value >> 31)
    }
  }

  private static let interesting: [UInt64] = [
    0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, UInt64(Int64.max), UInt64.max - 7, .max,
  ]

  @Test("no mutation crashes the checks or keeps them longer than a moment", .timeLimit(.minutes(10)), arguments: ["gnu", "sysv"])
  func mutations(_ hashStyle: String) throws {
    let directory = try PluginDirectory()
    let note = SamplePlugin.note(lines: ["format=1", "abi=1", "identifier=a.b", "kind=refresh"])
    let path = try directory.compile(
      SamplePlugin.source + note, to: "original.so", flags: ["-Wl,--hash-style=\(hashStyle),-rpath,$ORIGIN", "-s"])
    let original = try SamplePlugin.read(path)
    let ranges = try hotRanges(original)
    var random = SplitMix(state: 0x7461_736b)
    let target = try PluginDirectory()
    var accepted = 0
    for _ in 0..<3000 {
      var patch = ElfPatch(bytes: original)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        // Two in three where the checks look, the rest anywhere.
        let range = Int.random(in: 0..<3, using: &random) == 0 ? 0..<original.count : ranges.randomElement(using: &random) ?? 0..<64
        let offset = Int.random(in: range, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: patch.bytes[offset] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
        case 1: patch.bytes[offset] = UInt8.random(in: 0...255, using: &random)
        default:
          let start = min(offset & ~7, original.count - 8)
          patch.set(start, Self.interesting.randomElement(using: &random) ?? 0)
        }
      }
      if Int.random(in: 0..<8, using: &random) == 0 {
        patch.bytes = Array(patch.bytes.prefix(Int.random(in: 0..<original.count, using: &random)))
      }
      try target.write(patch.bytes, to: "mutant.so")
      let start = ContinuousClock.now
      let scan = try target.scan()
      #expect(ContinuousClock.now - start < .seconds(20))
      #expect(scan.accepted.count + scan.refused.count == 1)
      accepted += scan.accepted.count
      for refusal in scan.refused { #expect(!refusal.observed.isEmpty && refusal.remedy.hasSuffix(".")) }
    }
    // Both answers must occur, or the mutations prove nothing.
    #expect(accepted > 100 && accepted < 2900, "\(accepted)")
  }

  /// The ELF header, the program headers, and each segment that is read: dynamic section, notes, and the first loaded one with its tables.
  private func hotRanges(_ bytes: [UInt8]) throws -> [Range<Int>] {
    let patch = ElfPatch(bytes: bytes)
    let headers = 64..<(64 + 56 * Int(patch.number(56, size: 2)))
    let segments = (patch.headers(2) + patch.headers(4) + patch.headers(1).prefix(1)).map { header in
      let start = Int(patch.number(header + 8, size: 8))
      return start..<(start + Int(patch.number(header + 32, size: 8)))
    }
    return [0..<64, headers] + segments
  }
}
