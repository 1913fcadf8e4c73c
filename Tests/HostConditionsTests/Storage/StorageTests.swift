import Testing

@testable import HostConditions

@Suite("Storage") struct StorageTests {
  private static let gibibyte: UInt64 = 1 << 30

  @Test(
    "low by share or by bytes, fine by both",
    arguments: [
      (100 * gibibyte, 4 * gibibyte, Leaning.lost, "4 GiB (4 %) free"),
      (100 * gibibyte, 6 * gibibyte, .neither, "6 GiB (6 %) free"),
      (100 * gibibyte, 7 * gibibyte, .holds, "7 GiB (7 %) free"),
      (2 * gibibyte, gibibyte / 4, .lost, "256 MiB (12 %) free"),
      (2 * gibibyte, gibibyte / 2 + 1, .neither, "512 MiB (25 %) free"),
      (2 * gibibyte, gibibyte, .holds, "1 GiB (50 %) free"),
      (0, 0, .unknown, "the file system does not report its size, which counts as enough storage"),
    ])
  func rule(_ total: UInt64, _ free: UInt64, _ leaning: Leaning, _ observed: String) {
    let reading = StorageRule(ConditionSettings()).storage(free: free, total: total)
    #expect(reading == Reading(leaning: leaning, observed: observed))
  }

  @Test("this machine's file system is looked at") func machine() throws {
    let folder = try Folder()
    let reading = StorageProbe(path: folder.path, rule: StorageRule(ConditionSettings())).read()
    #expect(reading.leaning != .unknown)
    #expect(reading.observed.hasSuffix("free at \(folder.path)"))
  }

  @Test("what cannot be looked at is not known, with the reason") func missing() throws {
    let folder = try Folder()
    let reading = StorageProbe(path: "\(folder.path)/none", rule: StorageRule(ConditionSettings())).read()
    #expect(
      reading == .unknown("\(folder.path)/none cannot be read, which counts as enough storage: No such file or directory"))
  }
}
