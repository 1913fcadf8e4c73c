import Foundation
import Glibc
import Testing

@testable import TaskHost

@Suite("Review of a machine") struct MachineReviewTests {
  private let directory: String

  init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "machine-\(UUID().uuidString.prefix(13))").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
  }

  private func findings(_ text: String = "", isRunning: Bool = false) throws -> [Finding] {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return MachineReview(try HostConfiguration.parse(text, file: directory + "/taskhost.toml"), isRunning: isRunning).findings()
  }

  @Test("looks at every topic of the machine, and makes no state directory")
  func topics() throws {
    let found = try findings()
    for topic in [Finding.Topic.sandbox, .cgroups, .limits, .clock, .stateDirectory] {
      #expect(found.contains { $0.topic == topic }, "\(topic)")
    }
    let state = try #require(found.first { $0.topic == .stateDirectory })
    #expect(state.verdict == .ok && state.seen.contains("does not exist yet"), "\(state)")
    #expect(found.allSatisfy { $0.verdict == .ok || $0.remedy != nil || $0.preventsLaunch }, "\(found)")
  }

  @Test("a state directory that others may write is a warning, and one that is a file prevents a launch")
  func state() throws {
    try FileManager.default.createDirectory(atPath: directory + "/state", withIntermediateDirectories: true)
    chmod(directory + "/state", 0o777)
    let configuration = try HostConfiguration.parse("", file: directory + "/taskhost.toml")
    let found = MachineReview(configuration, isRunning: false).findings()
    #expect(found.first { $0.topic == .stateDirectory }?.verdict == .warning)
    #expect(found.first { $0.topic == .stateDirectory }?.seen.contains("mode 777") == true)
    #expect(found.first { $0.topic == .store }?.verdict == .ok)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory + "/state") == [], "what it wrote is removed")
    try FileManager.default.removeItem(atPath: directory + "/state")
    try "x".write(toFile: directory + "/state", atomically: false, encoding: .utf8)
    #expect(try findings().contains { $0.topic == .stateDirectory && $0.preventsLaunch })
  }

  @Test("free space counts by the limits of [conditions]")
  func disk() throws {
    try FileManager.default.createDirectory(atPath: directory + "/state", withIntermediateDirectories: true)
    let low = try findings("conditions.storage_low_bytes = \"500TiB\"\nconditions.storage_ok_bytes = \"600TiB\"\n").first {
      $0.topic == .disk
    }
    #expect(low?.verdict == .warning && low?.why?.contains("storage_not_low") == true, "\(String(describing: low))")
  }

  @Test("the running host knows its control groups and its store itself")
  func running() throws {
    try FileManager.default.createDirectory(atPath: directory + "/state", withIntermediateDirectories: true)
    let found = try findings(isRunning: true)
    #expect(!found.contains { $0.topic == .cgroups })
    #expect(found.first { $0.topic == .store }?.seen.contains("running host") == true)
  }
}
