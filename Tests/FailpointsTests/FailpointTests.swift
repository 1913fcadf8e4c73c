import Foundation
import Glibc
import Synchronization
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

  /// A process of its own, which this test is to outlive.
  @Test("an armed point ends the process by SIGKILL at the hit that was asked for, and at no other point")
  func killed() async {
    let result = await #expect(processExitsWith: .signal(SIGKILL)) {
      FailpointTrigger.arm(.beforeCommit, hit: 3)
      for point in Failpoint.allCases where point != .beforeCommit { point.hit() }
      for _ in 1...2 { Failpoint.beforeCommit.hit() }
      // An exit status tells that it lived until here; a signal, that the next hit ended it.
      Failpoint.beforeCommit.hit()
      exit(3)
    }
    #expect(result != nil)
  }

  @Test("before that hit the process lives")
  func lives() async {
    await #expect(processExitsWith: .exitCode(3)) {
      FailpointTrigger.arm(.beforeCommit, hit: 3)
      for _ in 1...2 { for point in Failpoint.allCases { point.hit() } }
      exit(3)
    }
  }

  @Test("of many threads that hit it at once, one ends the process, and the others do not go on")
  func threads() async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      FailpointTrigger.arm(.afterCommit, hit: 1000)
      for _ in 1...8 {
        Thread.detachNewThread { while true { Failpoint.afterCommit.hit() } }
      }
      while true { pause() }
    }
  }
}
