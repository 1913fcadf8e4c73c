import Testing

@testable import TaskHost

/// Random damage from a fixed seed: whatever the text, reading it returns a configuration or an error with places inside the text.
@Suite("Mutated configurations") struct ConfigurationMutationTests {
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

  private static let text = """
    plugin_directories = ["plugins", 'b'] # comment
    max_concurrent_runs = 16
    minimum_interval = "15m"
    control = { mode = "0600", listen = "" }
    [[trusted_keys]]
    file = "keys/vendor.pub"
    identifiers = ["com.vendor.*"]
    [plugin."org.taskhost.sync"]
    schedule = "every 6h"
    requires = [ "network",
      "power" ]
    [plugin."org.taskhost.sync".settings]
    date = 2024-02-03T07:32:00Z
    number = -1.5e3
    nested = [{ a = [1, 2] }, { b = "\\u00e9" }]
    """

  @Test("no mutation crashes the reader", .timeLimit(.minutes(10)))
  func mutations() {
    var random = SplitMix(state: 0x636f_6e66)
    let pieces = Array("[]{}\"'=.,#\n\\\0 \tu0a-é_+:TZ\r\u{85}\u{2028}\u{1}\u{7f}\u{c}\u{a0}\u{feff}xob".unicodeScalars)
    let original = Array(Self.text.unicodeScalars)
    var (taken, refused) = (0, 0)
    for _ in 0..<1500 {
      var scalars = original
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = Int.random(in: scalars.indices, using: &random)
        let piece = pieces.randomElement(using: &random) ?? "x"
        switch Int.random(in: 0..<4, using: &random) {
        case 0: scalars.remove(at: index)
        case 1: scalars.insert(piece, at: index)
        case 2: scalars[index] = piece
        default: scalars.swapAt(index, Int.random(in: scalars.indices, using: &random))
        }
      }
      var view = String.UnicodeScalarView()
      view.append(contentsOf: scalars)
      let lines = scalars.count { $0 == "\n" } + 1
      do throws(ConfigurationError) {
        _ = try HostConfiguration.parse(String(view), file: "taskhost.toml")
        taken += 1
      } catch {
        refused += 1
        #expect(!error.problems.isEmpty && error.problems.allSatisfy { (1...lines).contains($0.line) && $0.column >= 1 })
      }
    }
    // Both answers must occur, or the mutations prove nothing.
    #expect(taken > 50 && refused > 500, "\(taken) \(refused)")
  }
}
