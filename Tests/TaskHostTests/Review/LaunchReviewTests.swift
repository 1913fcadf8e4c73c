import Foundation
import Glibc
import Testing

@testable import TaskHost

/// What a launch would refuse or warn of, without a launch.
@Suite("Review of a launch") struct LaunchReviewTests {
  private let directory: String

  init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "review-\(UUID().uuidString.prefix(13))").path
    try FileManager.default.createDirectory(
      atPath: directory + "/plugins", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    chmod(directory, 0o755)
  }

  private func findings(_ text: String) throws -> [Finding] {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let configuration = try HostConfiguration.parse(text.replacing("@/", with: directory + "/"), file: directory + "/taskhost.toml")
    return LaunchReview(configuration).findings().filter { $0.topic != .programs }
  }

  @Test("a configuration without flaws gives no finding, and makes no file")
  func sound() throws {
    let found = try findings("[command.a]\nrun = [\"true\"]\nschedule = \"every 1h\"\n")
    #expect(found.filter { $0.topic != .entitlements } == [], "\(found)")
    #expect(!FileManager.default.fileExists(atPath: directory + "/state"))
  }

  @Test("a program that is not there, or cannot be started, and a directory that is none fail each run of their command")
  func programs() throws {
    let found = try findings(
      """
      [command.a]
      run = ["no-such-program-here"]
      [command.b]
      run = ["/etc/passwd"]
      directory = "/nowhere"
      [command.c]
      run = ["only-here"]
      environment = ["PATH=@/"]
      [command.d]
      shell = "true"
      directory = "/etc/passwd"
      """
    ).filter { $0.topic == .commands }
    #expect(found.map(\.subject) == ["a", "b", "b", "c", "d"])
    #expect(found.allSatisfy { $0.verdict == .failure && !$0.preventsLaunch && $0.remedy != nil })
    #expect(found[0].seen.contains("in no folder of PATH (/usr/local/sbin:"), "\(found[0])")
    #expect(found[1].seen.contains("not executable") && found[2].seen.contains("/nowhere: No such file"), "\(found)")
    #expect(found[3].seen.contains("PATH (\(directory)/)") && found[4].seen.contains("is not a directory"), "\(found)")
  }

  @Test("keys that cannot be read, a mark in the state directory, and a plugin directory that is not there prevent a launch")
  func obstacles() throws {
    let found = try findings(
      """
      plugin_directories = ["@/plugins", "@/nowhere"]
      state_directory = "@/plugins/state"
      store_mark = "@/missing/mark"
      [[trusted_keys]]
      file = "@/vendor.pub"
      identifiers = ["com.vendor.*"]
      """
    ).filter(\.preventsLaunch)
    #expect(found.contains { $0.topic == .store && $0.seen.contains("store_mark") }, "\(found)")
    #expect(found.contains { $0.topic == .plugins && $0.seen.contains("vendor.pub") }, "\(found)")
    #expect(found.contains { $0.topic == .plugins && $0.seen.contains("nowhere") }, "\(found)")
  }

  @Test("a file that is no plugin is refused with its code, and the tasks that are tied to it will not run")
  func refused() throws {
    try "not a library".write(toFile: directory + "/plugins/libSync.so", atomically: false, encoding: .utf8)
    let found = try findings("[plugin.\"com.example.sync\"]\nfile = \"libSync.so\"\nschedule = \"every 1h\"\n")
    let refusal = try #require(found.first { $0.topic == .plugins })
    #expect(refusal.verdict == .failure && !refusal.preventsLaunch)
    #expect(refusal.why?.contains("com.example.sync will not run") == true && refusal.why?.contains("not_elf") == true, "\(refusal)")
    #expect(found.count { $0.topic == .schedules } == 0, "the schedule of a refused plugin is one problem, not two")
  }

  @Test("an identifier that is permitted by its full name and has no plugin prevents a launch; a schedule without a plugin never runs")
  func absent() throws {
    let found = try findings(
      """
      permitted_identifiers = ["com.example.gone", "com.example.*"]
      [plugin."com.example.sync"]
      schedule = "every 1h"
      [plugin."com.example.other"]
      budget = "30s"
      [schedule."com.example.third/weekly"]
      every = "7d"
      """)
    #expect(found.first(where: \.preventsLaunch)?.seen.contains("com.example.gone: no plugin registers it") == true, "\(found)")
    let schedules = found.filter { $0.topic == .schedules }
    #expect(schedules.map(\.subject) == ["com.example.sync", "com.example.third/weekly"])
    #expect(schedules.allSatisfy { $0.verdict == .failure })
    #expect(found.first { $0.subject == "com.example.other" }?.verdict == .warning)
  }

  @Test("receivers that cannot be told: no mail program, no secret, no headers")
  func receivers() throws {
    let found = try findings(
      """
      traces.endpoint = "http://127.0.0.1:4318"
      traces.headers_file = "@/headers"
      [[notify]]
      on = ["failed"]
      mail = "a@example.org"
      sendmail = "@/sendmail"
      [[notify]]
      on = ["failed"]
      name = "hook"
      url = "https://example.org/"
      secret_file = "@/secret"
      [[notify]]
      on = ["failed"]
      command = ["@/page"]
      """
    ).filter { $0.topic == .receivers }
    #expect(Set(found.compactMap(\.subject)) == ["notify 1", "notify hook", "notify 3", "traces"])
    #expect(found.allSatisfy { $0.verdict == .failure && $0.remedy != nil })
  }

  @Test("an entitlement to a path that is not there is a warning")
  func entitlements() throws {
    let found = try findings("[plugin.a.entitlements]\nread = [\"/nowhere/at/all\"]\nwrite = [\"/tmp\"]\n").filter {
      $0.topic == .entitlements
    }
    #expect(found.contains { $0.verdict == .warning && $0.seen.contains("entitlements.read: /nowhere/at/all") }, "\(found)")
  }
}
