import TaskModel
import Testing
import WorkerSandbox

@Suite("What the kernel offers") struct SupportTests {
  @Test("looking changes nothing, and a limit masks newer ABIs", arguments: 0...9)
  func masking(_ limit: Int) {
    let support = WorkerSandbox.support(landlockLimit: limit)
    #expect(support.landlockABI == min(limit, Kernel.landlockABI))
    #expect(support.seccomp)
    #expect(WorkerSandbox.support(landlockLimit: nil).landlockABI == Kernel.landlockABI)
  }

  @Test("each lack is a sentence, none at ABI 6", arguments: [(0, 1), (1, 5), (2, 4), (3, 3), (4, 2), (5, 1), (6, 0), (7, 0)])
  func lacks(_ abi: Int, _ sentences: Int) {
    guard abi <= Kernel.landlockABI else { return }
    #expect(WorkerSandbox.support(landlockLimit: abi).missing.count == sentences)
  }

  @Test("only a list of ports can be objected to", arguments: 0...7)
  func rejections(_ limit: Int) {
    var confinement = Confinement(plugin: "/plugin.so", network: .ports([443]))
    let rejections = WorkerSandbox.rejections(to: confinement, landlockLimit: limit)
    #expect(rejections.isEmpty == (min(limit, Kernel.landlockABI) >= 4))
    #expect(rejections.allSatisfy { $0.hasPrefix("entitlements.network: ") })
    confinement.network = .connect
    #expect(WorkerSandbox.rejections(to: confinement, landlockLimit: limit) == [])
  }

  @Test("a report says what the kernel lacks and who counts threads", arguments: [0] + Kernel.abis)
  func report(_ abi: Int) throws {
    let result = try Probe.run(["--landlock", "\(abi)"], [])
    #expect(result.missing.dropLast() == WorkerSandbox.support(landlockLimit: abi).missing[...])
    #expect(result.missing.last?.hasPrefix("limits.processes: threads are counted only in a delegated cgroup") == true)
  }

  @Test("confining takes milliseconds")
  func speed() throws {
    let fastest = try (0..<10).map { _ in try Probe.run([], []).nanoseconds }.min() ?? .max
    #expect(fastest > 0)
    #expect(fastest < 20_000_000)
  }
}
