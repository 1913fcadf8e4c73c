import Foundation
import Glibc
import TestSupport
import Testing

@testable import Failpoints

/// The names, what is read from the environment, and the end of a process.
@Suite("Failpoints")
struct FailpointTests {
  @Test("names are in kebab case and name one point each")
  func names() {
    let names = Failpoint.allCases.map(\.rawValue)
    #expect(Set(names).count == names.count)
    for name in names {
      #expect(name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }, "\(name)")
      #expect(!name.hasPrefix("-") && !name.hasSuffix("-") && !name.contains("--"), "\(name)")
    }
  }

  @Test("a name stands for its first hit, NAME:N for the Nth", arguments: Failpoint.allCases)
  func parsed(_ point: Failpoint) throws {
    let plain = try FailpointTrigger.parse(point.rawValue)
    #expect(plain.point == point && plain.hit == 1)
    let counted = try FailpointTrigger.parse(point.rawValue + ":17")
    #expect(counted.point == point && counted.hit == 17)
  }

  @Test(
    "what names no point is refused, and the refusal names all there are",
    arguments: [
      "", ":", "nowhere", "before-commit:", "before-commit:0", "before-commit:-1", "before-commit:x", "before-commit:1:2", "Before-Commit",
    ])
  func refused(_ setting: String) {
    #expect(throws: FailpointError(setting)) { try FailpointTrigger.parse(setting) }
    for point in Failpoint.allCases { #expect(FailpointError(setting).description.contains(point.rawValue)) }
  }

  @Test("a point that is not armed does nothing")
  func unarmed() {
    for point in Failpoint.allCases { point.hit() }
  }

  @Test("an armed point ends the process by SIGKILL at the hit that was asked for, and neither before nor at another point")
  func killed() async throws {
    #expect(try await status(armed: "before-commit:3", ["before-commit", "2"]) == 3)
    #expect(try await status(armed: "before-commit:3", ["before-commit", "3"]) == -SIGKILL)
    #expect(try await status(armed: "before-commit", ["after-commit", "0"]) == 3)
    #expect(try await status(armed: "before-commit", ["after-commit", "1"]) == -SIGKILL)
  }

  @Test("of many threads that hit it at once, one ends the process, and the others do not go on")
  func threads() async throws {
    #expect(try await status(armed: "after-commit:1000", ["after-commit", "1000000000", "8"]) == -SIGKILL)
  }

  /// How a process ends that hits points.
  private func status(armed: String, _ arguments: [String]) async throws -> Int32 {
    try await Program.run(
      try BuiltProgram.path("failpoint-probe"), arguments, environment: [FailpointTrigger.variable: armed, "SWIFT_BACKTRACE": "enable=no"]
    ).status
  }
}
