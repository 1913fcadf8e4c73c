import Foundation
import Glibc
import HostConditions
import TaskModel
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

  @Test("a condition that cannot hold here is a failure of the schedules that require it, by the rules of run time")
  func conditions() throws {
    try FileManager.default.createDirectory(atPath: directory + "/state", withIntermediateDirectories: true)
    let commands = """
      conditions.storage_low_bytes = "500TiB"
      conditions.storage_ok_bytes = "600TiB"
      [command.a]
      run = ["true"]
      schedule = "every 1h"
      requires = ["storage_not_low", "power", "idle"]
      [schedule."a/more"]
      every = "2h"
      requires = ["storage_not_low"]

      """
    let found = try findings(commands).filter { $0.topic == .schedules }
    #expect(found.count == 1, "\(found)")
    #expect(found.first?.verdict == .failure && found.first?.subject == "a, a/more", "\(found)")
    #expect(found.first?.seen.hasPrefix("storage_not_low cannot hold on this machine: ") == true && found.first?.remedy != nil)
    try FileManager.default.createDirectory(atPath: directory + "/state", withIntermediateDirectories: true)
    // An operator's decision counts before the machine.
    let overrides = ConditionOverrides(path: directory + "/state/condition-overrides") { _ in }
    try overrides.set([(.storageNotLow, true)], at: WallTime(unixSeconds: 1_800_000_000))
    let overridden = try findings(commands).filter { $0.topic == .schedules }
    #expect(overridden.map(\.verdict) == [.warning] && overridden.first?.seen.contains("overridden") == true, "\(overridden)")
  }

  @Test("what the machine does not report counts as held, with a warning")
  func unknownConditions() throws {
    try "x".write(toFile: directory + "/supplies", atomically: false, encoding: .utf8)
    let text = "[command.a]\nrun = [\"true\"]\nschedule = \"every 1h\"\nrequires = [\"power\", \"idle\"]\n"
    var review = MachineReview(try HostConfiguration.parse(text, file: directory + "/taskhost.toml"), isRunning: false)
    var sources = ConditionSources(storage: directory)
    (sources.powerSupplies, sources.pressure, sources.loadAverage) = (directory + "/supplies", "/nowhere", "/nowhere/loadavg")
    review.sources = sources
    let found = review.findings().filter { $0.topic == .schedules }
    #expect(found.map(\.verdict) == [.warning, .warning], "\(found)")
    #expect(found.map(\.seen).allSatisfy { $0.contains(" is not known: ") } && found.allSatisfy { $0.subject == "a" }, "\(found)")
    try? FileManager.default.removeItem(atPath: directory)
  }
}
