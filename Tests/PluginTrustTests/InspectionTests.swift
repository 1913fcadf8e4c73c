import Glibc
import Testing

@testable import PluginTrust

@Suite("Inspection of one file") struct InspectionTests {
  @Test("a good file passes as in a scan, whatever its name")
  func good() throws {
    let directory = try PluginDirectory()
    try directory.write(try SamplePlugin.bytes.get(), to: "lib.so")
    let scanned = try #require(try directory.scan().accepted.first)
    #expect(try PluginFile(inspecting: directory.file("lib.so")) == scanned)
    try #require(rename(directory.file("lib.so"), directory.file("copy-1234")) == 0)
    #expect(try PluginFile(inspecting: directory.file("copy-1234")).elf == scanned.elf)
  }

  @Test("a bad file is refused for the same reasons")
  func bad() throws {
    let directory = try PluginDirectory()
    try directory.write([], to: "empty.so")
    #expect(#expect(throws: PluginRefusal.self) { try PluginFile(inspecting: directory.file("empty.so")) }?.code == .empty)
    #expect(#expect(throws: PluginRefusal.self) { try PluginFile(inspecting: directory.file("none.so")) }?.code == .unreadable)
    #expect(#expect(throws: PluginRefusal.self) { try PluginFile(inspecting: directory.file("none/a.so")) }?.code == .unreadable)
    try #require(chmod(directory.path, 0o777) == 0)
    #expect(#expect(throws: PluginRefusal.self) { try PluginFile(inspecting: directory.file("empty.so")) }?.code == .writableByOthers)
  }

  @Test("a file cut short after it was opened is an error, not a crash")
  func cutShort() throws {
    let directory = try PluginDirectory()
    let path = try directory.write(try SamplePlugin.bytes.get(), to: "lib.so")
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let file = BoundedFile(descriptor: descriptor, size: UInt64(try SamplePlugin.bytes.get().count))
    try #require(truncate(path, 100) == 0)
    #expect(throws: Rejection.changed) { try file.read("a piece", at: 64, count: 64) }
    #expect(throws: Rejection.changed) { try ElfSummary(reading: file, policy: PluginTrustPolicy()) }
  }

  @Test("the codes are stable names without spaces or capitals, each once")
  func codes() {
    let names = PluginRefusal.Code.allCases.map(\.rawValue)
    #expect(Set(names).count == names.count)
    #expect(names.allSatisfy { $0.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x5f } })
  }
}
