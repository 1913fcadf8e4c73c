import CalendarTime
import Foundation
import TaskHost
import TestSupport
import Testing

@testable import Takeover

/// The machine of `Fixtures/machine`: 200 lines as Debian's packages, tutorials and people have them.
enum FixtureMachine {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
  private static let root = folder.appending(path: "machine")
  /// 2026-11-27 12:00:00 UTC.
  static let now = 1_795_780_800

  static func read() throws -> CronMachine {
    func names(_ path: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: root.path + path).sorted() }
    func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: root.path + path))) }
    var files = [CronFile(path: "/etc/crontab", kind: .system, bytes: try bytes("/etc/crontab"))]
    for name in try names("/etc/cron.d") {
      let flaw = RunPartsName.flaw(of: name)
      let path = "/etc/cron.d/\(name)"
      files.append(CronFile(path: path, kind: .system, bytes: try bytes(path), flaw: flaw, isFlawIntended: flaw != nil))
    }
    for name in try names("/var/spool/cron/crontabs") {
      let path = "/var/spool/cron/crontabs/\(name)"
      files.append(CronFile(path: path, kind: .user(name), bytes: try bytes(path)))
    }
    files.append(CronFile(path: "/etc/anacrontab", kind: .anacron, bytes: try bytes("/etc/anacrontab")))
    var machine = CronMachine(files: files)
    let users = Set(
      String(decoding: try bytes("/etc/passwd"), as: UTF8.self).split(separator: "\n").map { String($0.prefix { $0 != ":" }) })
    machine.isUser = { users.contains($0) }
    machine.hasAnacron = true
    machine.zone = try ZoneDirectory().rules(of: "Europe/Berlin")
    machine.now = now
    machine.folders = try ["hourly", "daily", "weekly"].map { name in
      let scripts = try names("/etc/cron.\(name)").map { script in
        let isExecutable = FileManager.default.isExecutableFile(atPath: "\(root.path)/etc/cron.\(name)/\(script)")
        return CronFolder.Script(name: script, flaw: RunPartsName.flaw(of: script) ?? (isExecutable ? nil : "it is not executable"))
      }
      return CronFolder(path: "/etc/cron.\(name)", scripts: scripts)
    }
    return machine
  }

  static func report() throws -> TakeoverReport {
    TakeoverReport(source: "cron", findings: CronTakeover.findings(of: try read()), differences: CronTakeover.differences)
  }
}

@Suite("Takeover of 200 lines of cron") struct CronFixtureTests {
  /// A finding as one line of `Fixtures/expected.txt`.
  private static func line(_ finding: LineFinding) -> String {
    let what: String
    switch finding.result {
    case .nothing(let why), .setting(let why), .covered(let why), .refused(let why): what = why
    case .command(let command):
      let program = command.shell ?? command.run.map { "\($0)" }.joined(separator: " ¦ ")
      what = "\(command.identifier) ¦ \(command.schedule ?? "") ¦ \(command.user ?? "-") ¦ \(program)"
    }
    let notes = finding.notes.map { "\n    * \($0)" }.joined()
    return "\(finding.place) \(finding.kind): \(what)\(notes)".split(separator: "\r", omittingEmptySubsequences: false).joined(
      separator: "\\r")
  }

  @Test("a line of a user that the host cannot become is refused, and the folder that it runs has nobody")
  func foreignUsers() throws {
    var machine = try FixtureMachine.read()
    machine.hostUser = "www-data"
    let findings = CronTakeover.findings(of: machine)
    #expect(Set(findings.compactMap { $0.command?.user }) == ["www-data"])
    let hourly = try #require(findings.first { $0.text.contains("run-parts --report /etc/cron.hourly") })
    #expect(
      hourly.result
        == .refused("it runs as root, and the host as www-data, who cannot become root: take it over into a host that runs as root"))
    #expect(findings.contains { $0.result == .nothing("no line that is carried over runs the folder /etc/cron.hourly") })
  }

  @Test("each line has the result that was written down for it")
  func expected() throws {
    let report = try FixtureMachine.report()
    let found =
      report.findings.filter { finding in
        if case .nothing(let what) = finding.result { return what != "comment" && what != "blank line" }
        return true
      }.map(Self.line).joined(separator: "\n") + "\n"
    let file = FixtureMachine.folder.appending(path: "expected.txt")
    if ProcessInfo.processInfo.environment["TASKHOST_WRITE_EXPECTED"] == "1" {
      try found.write(to: file, atomically: true, encoding: .utf8)
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    let (left, right) = (found.split(separator: "\n"), expected.split(separator: "\n"))
    for (found, expected) in zip(left, right) where found != expected { #expect(found == expected) }
    #expect(left.count == right.count)
    #expect(report.findings.count { $0.line > 0 && !["comment", "blank line"].contains(Self.why($0)) } >= 200)
  }

  private static func why(_ finding: LineFinding) -> String {
    if case .nothing(let what) = finding.result { what } else { "" }
  }

  @Test("every line of every file has one finding")
  func complete() throws {
    let machine = try FixtureMachine.read()
    let findings = CronTakeover.findings(of: machine)
    for file in machine.files {
      let lines = findings.filter { $0.file == file.path }.map(\.line)
      #expect(lines == Array(1...Bytes.lines(of: file.bytes).lines.count), "\(file.path)")
    }
  }

  @Test("identifiers are unique, and the host's own reader takes the configuration, but for users that this machine lacks")
  func loads() throws {
    let report = try FixtureMachine.report()
    let identifiers = report.commands.map(\.identifier)
    #expect(Set(identifiers).count == identifiers.count)
    #expect(identifiers.count > 120)
    let text = try #require(report.configuration)
    do throws(ConfigurationError) {
      _ = try HostConfiguration.parse(text, file: "/tmp/takeover-cron.toml")
    } catch {
      let others = error.problems.filter { !$0.key.hasSuffix(".user") }
      #expect(others.isEmpty, "\(others.map { "\($0.line): \($0.message)" })")
    }
  }

  @Test("JSON has every line, and says what is not carried over")
  func json() throws {
    let report = try FixtureMachine.report()
    let value = try JSONSerialization.jsonObject(with: Data(report.json())) as? [String: Any]
    let lines = try #require(value?["lines"] as? [[String: Any]])
    #expect(lines.count == report.findings.count)
    #expect(value?["complete"] as? Bool == false)
    #expect(lines.allSatisfy { $0["why"] is String || $0["configuration"] is String })
  }

  @Test("the times are those that croniter finds for the fields as they are written")
  func croniter() throws {
    let report = try FixtureMachine.report()
    var asked: [(line: String, times: [Int])] = []
    for finding in report.findings {
      guard let times = finding.command?.times.first, times.zone == nil, !times.expression.hasPrefix("@") else { continue }
      let fields = finding.text.split { $0 == " " || $0 == "\t" }.prefix(5).map { $0.lowercased() }
      let plain = fields.allSatisfy { $0.allSatisfy { "0123456789abcdefghijklmnopqrstuvwxyz*/,-".contains($0) } }
      // croniter takes a step of all days for a restriction, and refuses what cron reads in its own way.
      let isOdd = fields[2].hasPrefix("*/") || !finding.notes.filter { $0.hasPrefix("cron reads") }.isEmpty
      guard plain, !isOdd else { continue }
      let schedule = CronSchedule(try CronExpression(times.expression), in: .utc)
      var (found, moment): ([Int], Int) = ([], FixtureMachine.now)
      for _ in 0..<20 {
        guard let next = schedule.next(after: moment) else { break }
        found.append(next)
        moment = next
      }
      asked.append((fields.joined(separator: " "), found))
    }
    #expect(asked.count > 100)
    let script = FixtureMachine.folder.appending(path: "croniter_next.py").path
    let input = asked.map { "\(FixtureMachine.now)\t\($0.line)\n" }.joined()
    let answer = try Program.finish(["/usr/bin/python3", script], input: Data(input.utf8), within: .seconds(120))
    try #require(answer.status == 0, "make deps installs python3-croniter: \(answer.errors)")
    let lines = answer.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    try #require(lines.count == asked.count)
    for (asked, line) in zip(asked, lines) { #expect(asked.times == line.split(separator: " ").compactMap { Int($0) }, "\(asked.line)") }
  }
}
