import Foundation
import Glibc
import Testing

@Suite("Limits") struct LimitTests {
  private static let mebibyte = 1 << 20

  @Test("memory beyond the limit is refused, the process lives on")
  func memory() throws {
    let options = ["--memory", "\(64 * Self.mebibyte)"]
    let result = try Probe.run(options, [("allocate", "\(200 * Self.mebibyte)"), ("allocate", "\(30 * Self.mebibyte)"), ("clock", "")])
    #expect(result.answers == [ENOMEM, 0, 0])
    #expect(result.signal == nil)
    #expect(try Probe.answer(["--memory", "\(256 * Self.mebibyte)"], "allocate", "\(200 * Self.mebibyte)") == 0)
  }

  @Test("descriptors beyond the limit are refused")
  func descriptors() throws {
    #expect(try Probe.answer(["--descriptors", "40"], "open-many", "60") == EMFILE)
    #expect(try Probe.answer(["--descriptors", "80"], "open-many", "60") == 0)
  }

  @Test("a file too large is EFBIG, not a signal")
  func fileSize() throws {
    let place = try Playground()
    let result = try Probe.run(
      ["--data", place("own")],
      [("write-at", "\(place("own/file")):\(1 << 30)"), ("write-at", "\(place("own/file")):\((1 << 30) - 1)"), ("clock", "")])
    #expect(result.answers == [EFBIG, 0, 0])
    #expect(result.signal == nil)
  }

  @Test("the limits are hard: soft and hard ones are equal, and there are no core files")
  func hardness() throws {
    let result = try Probe.run(
      ["--memory", "\(100 * Self.mebibyte)", "--descriptors", "50"],
      [
        ("has-limit", "\(Int32(RLIMIT_DATA.rawValue)):\(100 * Self.mebibyte)"), ("has-limit", "\(Int32(RLIMIT_NOFILE.rawValue)):50"),
        ("has-limit", "\(Int32(RLIMIT_FSIZE.rawValue)):\(1 << 30)"), ("has-limit", "\(Int32(RLIMIT_CORE.rawValue)):0"),
      ])
    #expect(result.answers == [0, 0, 0, 0])
  }

  @Test("a limit that this process is below already is said")
  func granted() throws {
    let result = try Probe.run(["--descriptors", "\(Int32.max)"], [])
    #expect(result.missing.contains { $0.hasPrefix("limits.descriptors: 2147483647 asked for, but this process may have no more than ") })
  }

  @Test("what a worker lives on stays: bodies in memory, events, threads, time", arguments: [0] + Kernel.abis)
  func remaining(_ abi: Int) throws {
    let actions = [("memfd", ""), ("eventfd", ""), ("threads", "3"), ("clock", ""), ("socketpair", "1:5"), ("load", "libz.so.1")]
    #expect(try Probe.run(["--landlock", "\(abi)"], actions).answers == actions.map { _ in 0 })
  }
}
