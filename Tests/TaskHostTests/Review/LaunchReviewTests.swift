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

  /// A script or program, and what is said of it; nil: nothing.
  private static let contents: [(content: [UInt8], flaw: String?)] = [
    (Array("#!/bin/sh\n".utf8), nil), (Array("#! /usr/bin/env sh\n".utf8), nil), (Array("#!nowhere/sh\n".utf8), nil),
    (Array("#!/nowhere/sh -e\n".utf8), "its first line names /nowhere/sh: No such file"),
    (Array("#!/bin/sh\r\necho\n".utf8), "ends with a carriage return"), (Array("#!\n".utf8), "names no program"), ([], "it is empty"),
    (Array("echo hello\n".utf8), "neither a program nor a script"), (Array("\u{7f}ELF".utf8), "cut off"),
  ]

  @Test("a program that the kernel would not start fails each run of its command: scripts, texts, halves")
  func kinds() throws {
    var contents = Self.contents
    let program = try Data(contentsOf: URL(filePath: "/bin/true"))
    contents.append((Array(program), nil))
    for part in [64, 100, program.count / 2] { contents.append((Array(program.prefix(part)), "cut off")) }
    var text = ""
    for (index, (content, _)) in contents.enumerated() {
      try Data(content).write(to: URL(filePath: directory + "/p\(index)"))
      chmod(directory + "/p\(index)", 0o755)
      text += "[command.c\(index)]\nrun = [\"@/p\(index)\"]\n"
    }
    let found = try findings(text).filter { $0.topic == .commands }
    for (index, (_, flaw)) in contents.enumerated() {
      let finding = found.first { $0.subject == "c\(index)" }
      #expect((finding == nil) == (flaw == nil), "\(index): \(found)")
      if let flaw { #expect(finding?.seen.contains(flaw) == true, "\(index): \(found)") }
    }
  }

  @Test("a program outside of the system's folders is not started in a sandbox", .enabled(if: LaunchReview.confinesPrograms))
  func sandboxed() throws {
    try "#!/bin/sh\n".write(toFile: directory + "/own", atomically: false, encoding: .utf8)
    chmod(directory + "/own", 0o755)
    let found = try findings(
      """
      [command.a]
      run = ["@/own"]
      entitlements = { read = ["@/own"] }
      [command.b]
      run = ["true"]
      entitlements = {}
      [command.c]
      run = ["@/own"]
      [command.d]
      run = ["/bin/sh", "@/own"]
      entitlements = { read = ["@/own"] }
      """
    ).filter { $0.topic == .commands }
    #expect(found.map(\.subject) == ["a"] && found.first?.seen.contains("in the folders of the system") == true, "\(found)")
  }

  @Test("keys seal the host's own store, and not what it shares with a fleet", arguments: [true, false])
  func plainInFleet(seals: Bool) throws {
    let found = try findings(
      """
      [encryption]
      key_file = "@/keys"
      seal = \(seals)
      [fleet]
      url = "host=/nowhere"
      [plugin."com.example.shared"]
      scope = "fleet"
      """
    ).filter { $0.topic == .encryption && $0.subject == "com.example.shared" }
    #expect(found.map(\.verdict) == (seals ? [.warning] : []), "\(found)")
  }

  @Test("a file with a secret that is a pipe, a device, a folder or empty")
  func secrets() throws {
    #expect(mkfifo(directory + "/pipe", 0o600) == 0)
    try Data().write(to: URL(filePath: directory + "/empty"))
    try Data("secret".utf8).write(to: URL(filePath: directory + "/good"))
    let files = ["@/pipe", "/dev/null", "@/plugins", "@/empty", "@/missing", "@/good"]
    let text = files.map { "[[notify]]\non = [\"failed\"]\nurl = \"https://example.org/\"\nsecret_file = \"\($0)\"\n" }.joined()
    let found = try findings(text).filter { $0.topic == .receivers }.map(\.seen)
    #expect(found.count == 5, "\(found)")
    for (seen, flaw) in zip(found, ["is not a file", "is not a file", "is not a file", "is empty", "No such file"]) {
      #expect(seen.hasPrefix("secret_file ") && seen.contains(flaw), "\(seen)")
    }
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

  @Test("a schedule no time of which is in its window is told with the wait, and fails what start_within asks for")
  func openings() throws {
    let found = try findings(
      """
      [windows.night]
      from = "01:00"
      to = "05:00"
      time_zone = "UTC"
      [command.noon]
      run = ["true"]
      schedule = "cron 0 12 * * * UTC"
      window = "night"
      start_within = "1h"
      [command.evening]
      run = ["true"]
      schedule = "cron 0 23 * * * UTC"
      window = "night"
      [command.jittered]
      run = ["true"]
      schedule = "cron 0 23 * * * UTC"
      window = "night"
      jitter = "3h"
      [command.sometimes]
      run = ["true"]
      schedule = "cron 30 */4 * * * UTC"
      window = "night"
      """
    ).filter { $0.topic == .schedules }
    #expect(found.map(\.subject) == ["evening", "noon"], "\(found)")
    #expect(found.map(\.verdict) == [.warning, .failure], "\(found)")
    #expect(found.first?.seen == "no time of its schedule is in its window night (01:00–05:00 daily)", "\(found)")
    #expect(
      found.map { $0.why ?? "" } == [
        "each run waits for the window, 2h or more", "each run waits for the window, 13h or more, and misses start_within",
      ])
  }
}
