import TestSupport
import Foundation
import Glibc
import HostThreads
import TaskModel
import Testing

@testable import HostConditions

@Suite("Pressure triggers") struct PressureTriggersTests {
  private static var hasTriggers: Bool {
    let triggers = PressureTriggers(directory: ConditionSources.kernelPressure, percent: 20)
    triggers.watch(true)
    return !triggers.descriptors.isEmpty
  }

  @Test("a machine that gets busy is told of by the kernel", .enabled(if: hasTriggers, "the kernel grants no trigger here"))
  func busy() async throws {
    let triggers = PressureTriggers(directory: ConditionSources.kernelPressure, percent: 5)
    triggers.watch(true)
    let descriptors = triggers.descriptors
    // Twice as many threads as processors, until it is told.
    let isDone = Guarded(false)
    for _ in 0..<ConditionSources(storage: "/").processors * 2 { try HostThread.start("burn") { while !isDone.withLock({ $0 }) {} } }
    defer { isDone.withLock { $0 = true } }
    let isTold = try await onThread {
      var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLPRI), revents: 0) }
      return poll(&entries, nfds_t(entries.count), 30_000) > 0 && entries.contains { $0.revents & Int16(POLLPRI) != 0 }
    }
    #expect(isTold)
    triggers.watch(false)
    #expect(triggers.descriptors.isEmpty)
  }

  @Test("files that stand for the kernel's are not written to") func stand() throws {
    let folder = try Folder()
    try folder.write("some avg10=0.00", to: "cpu")
    let triggers = PressureTriggers(directory: folder.path, percent: 20)
    triggers.watch(true)
    #expect(triggers.descriptors.isEmpty)
    #expect(try String(contentsOfFile: "\(folder.path)/cpu", encoding: .utf8) == "some avg10=0.00")
  }
}
