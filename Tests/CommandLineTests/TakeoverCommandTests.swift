import Foundation
import Glibc
import TestSupport
import Testing

@Suite("taskhost takeover", .timeLimit(.minutes(5)))
struct TakeoverCommandTests {
  /// The root of a machine whose crontabs belong to the user of this process. Removed with it.
  private final class Machine {
    let path: String
    static let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "root"

    init() throws {
      path = FileManager.default.temporaryDirectory.appending(path: "taskhost-takeover-\(UUID().uuidString)").resolvingSymlinksInPath().path
      for folder in ["etc/cron.d", "var/spool/cron/crontabs", "etc/systemd/system/timers.target.wants", "out"] {
        try FileManager.default.createDirectory(atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
      }
      try write("etc/crontab", "SHELL=/bin/sh\n# a comment\n0 3 * * * \(Self.user) /usr/bin/backup /srv\n*/5 * * * * \(Self.user) true\n")
      try write("etc/cron.d/app", "0 4 * * * \(Self.user) /opt/app/run\n")
      try write("var/spool/cron/crontabs/\(Self.user)", "@daily echo 'gr\u{fc}n' 100\\%\n", mode: 0o600)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String, mode: Int = 0o644) throws { try write(name, Data(text.utf8), mode: mode) }

    func write(_ name: String, _ data: Data, mode: Int = 0o644) throws {
      try data.write(to: URL(filePath: "\(path)/\(name)"))
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(path)/\(name)")
    }

    func read(_ name: String) throws -> String { try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }

    /// Every file and link below it, with its mode and content.
    func everything() throws -> [String: String] {
      var all: [String: String] = [:]
      for case let name as String in try #require(FileManager.default.enumerator(atPath: path)) {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        let content = attributes[.type] as? FileAttributeType == .typeRegular ? (try? read(name)) ?? "bytes" : "\(attributes[.type] ?? "")"
        all[name] = "\(attributes[.posixPermissions] ?? "") \(content)"
      }
      return all
    }

    func takeover(_ arguments: String...) async throws -> Program.Result {
      try await TaskHostProcess.run(["takeover"] + arguments + ["--root", path], directory: path)
    }
  }

  @Test("cron shows every line, writes nothing, and exits with 0 if all are carried over")
  func shows() async throws {
    let machine = try Machine()
    let before = try machine.everything()
    let shown = try await machine.takeover("cron")
    #expect(shown.status == 0, "\(shown.output) \(shown.errors)")
    #expect(shown.output.contains("[command.\"cron.backup\"]") && shown.output.contains("schedule = \"cron 0 4 * * *\""))
    #expect(shown.output.contains("nothing is left behind"))
    #expect(try machine.everything() == before)
    try machine.write("etc/cron.d/bad", "61 * * * * root x\n")
    let bad = try await machine.takeover("cron", "--json")
    #expect(bad.status == 1)
    #expect(bad.output.contains("cron refuses it, and ignores the whole file: bad minute"))
  }

  @Test("--apply writes a configuration that loads and comments the lines out, and --undo puts every byte back")
  func appliesAndUndoes() async throws {
    let machine = try Machine()
    let before = try machine.everything()
    let applied = try await machine.takeover("cron", "--apply", "--into", "out")
    #expect(applied.status == 0, "\(applied.output) \(applied.errors)")
    #expect(
      try machine.read("etc/crontab")
        == "SHELL=/bin/sh\n# a comment\n# taskhost takeover: 0 3 * * * \(Machine.user) /usr/bin/backup /srv\n# taskhost takeover: */5 * * * * \(Machine.user) true\n"
    )
    let names = try FileManager.default.contentsOfDirectory(atPath: machine.path + "/out").sorted()
    #expect(names == ["takeover-cron.toml", "takeover-cron.undo"])
    #expect(try machine.read("out/takeover-cron.toml").contains("[command.\"cron.app\"]"))
    let after = try machine.everything()
    #expect(after["var/spool/cron/crontabs/\(Machine.user)"]?.hasPrefix("384 # taskhost takeover: @daily") == true)

    let again = try await machine.takeover("cron", "--apply", "--into", "out")
    #expect(again.status != 0)
    #expect(try machine.everything() == after)

    let undone = try await machine.takeover("cron", "--undo", "--into", "out")
    #expect(undone.status == 0, "\(undone.output) \(undone.errors)")
    #expect(try machine.everything() == before)
    #expect(try await machine.takeover("cron", "--undo", "--into", "out").status == 1)
  }

  @Test("--undo refuses and changes nothing when a file was changed since, and names it")
  func changedSince() async throws {
    let machine = try Machine()
    #expect(try await machine.takeover("cron", "--apply", "--into", "out").status == 0)
    try machine.write("etc/cron.d/app", "# mine\n")
    let before = try machine.everything()
    let undone = try await machine.takeover("cron", "--undo", "--into", "out")
    #expect(undone.status == 6 && undone.errors.contains("/etc/cron.d/app: changed since the takeover"), "\(undone.errors)")
    #expect(try machine.everything() == before)
  }

  @Test("--undo leaves a configuration that somebody has changed, and puts the rest back after a takeover that ended midway")
  func midway() async throws {
    let machine = try Machine()
    let crontab = try machine.read("etc/crontab")
    #expect(try await machine.takeover("cron", "--apply", "--into", "out").status == 0)
    // As if it had been killed before it came to this file.
    try machine.write("etc/crontab", crontab)
    try machine.write("out/takeover-cron.toml", "# mine\n")
    let undone = try await machine.takeover("cron", "--undo", "--into", "out")
    #expect(undone.status == 0 && undone.output.contains("changed since, so it stays"), "\(undone.output) \(undone.errors)")
    #expect(try machine.read("out/takeover-cron.toml") == "# mine\n")
    #expect(try machine.read("etc/cron.d/app").hasPrefix("0 4"))
  }

  @Test("--undo follows no record that others could have written, or that names another file than a crontab")
  func foreignRecord() async throws {
    let machine = try Machine()
    #expect(try await machine.takeover("cron", "--apply", "--into", "out").status == 0)
    let record = "\(machine.path)/out/takeover-cron.undo"
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: record)
    let before = try machine.everything()
    let undone = try await machine.takeover("cron", "--undo", "--into", "out")
    #expect(undone.status == 1 && undone.errors.contains("others can write to it"), "\(undone.errors)")
    #expect(try machine.everything() == before)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: record)
    let list = try machine.read("out/takeover-cron.undo/record")
    for path in ["/etc/shadow", "/etc/cron.d/../passwd", "/etc/cron.d/app/../../x"] {
      try machine.write("out/takeover-cron.undo/record", list.replacing("/etc/cron.d/app", with: path))
      let undone = try await machine.takeover("cron", "--undo", "--into", "out")
      #expect(undone.status != 0 && undone.output.isEmpty, "\(path): \(undone.output) \(undone.errors)")
    }
    try machine.write("out/takeover-cron.undo/record", list)
    #expect(try await machine.takeover("cron", "--undo", "--into", "out").status == 0)
  }

  @Test("--apply refuses a symbolic link in place of a crontab or its folder, and writes nothing anywhere")
  func links() async throws {
    for link in ["etc/cron.d/app", "etc/cron.d"] {
      let machine = try Machine()
      try FileManager.default.moveItem(atPath: "\(machine.path)/\(link)", toPath: "\(machine.path)/elsewhere")
      try FileManager.default.createSymbolicLink(atPath: "\(machine.path)/\(link)", withDestinationPath: "/elsewhere")
      let before = try machine.everything()
      let applied = try await machine.takeover("cron", "--apply", "--into", "out")
      #expect(applied.status == 6 && applied.errors.contains("is a symbolic link"), "\(applied.output) \(applied.errors)")
      #expect(try machine.everything() == before)
    }
  }

  @Test("--apply writes nothing that a host would not load, alone or with the configuration it is meant for")
  func unloadable() async throws {
    let machine = try Machine()
    try machine.write("taskhost.toml", "[command.\"cron.app\"]\nrun = [\"/bin/true\"]\n")
    let before = try machine.everything()
    let applied = try await machine.takeover("cron", "--apply", "--into", "out", "--config", "taskhost.toml")
    #expect(applied.status == 6 && applied.errors.contains("would not load"), "\(applied.errors)")
    #expect(try machine.everything() == before)
  }

  @Test("--observe finds what cron did and the host would not, and exits with 1")
  func observes() async throws {
    let machine = try Machine()
    let user = Machine.user
    // Nothing at a time of day, which might be now.
    try machine.write("etc/crontab", "*/5 * * * * \(user) true\n")
    for name in ["etc/cron.d/app", "var/spool/cron/crontabs/\(user)"] {
      try FileManager.default.removeItem(atPath: "\(machine.path)/\(name)")
    }
    let now = Int(Date().timeIntervalSince1970) / 300 * 300
    func line(_ offset: Int, _ text: String) -> String {
      let form = ISO8601DateFormatter()
      form.timeZone = .gmt
      return "\(form.string(from: Date(timeIntervalSince1970: Double(now + offset)))) h CRON[1]: (\(user)) CMD (\(text))\n"
    }
    try machine.write("even", line(-660, "x") + line(-600, "true") + line(-299, "true") + line(-200, "y"))
    let even = try await machine.takeover("cron", "--observe", "--log", "even", "--hours", "1", "--json")
    #expect(even.status == 0 && even.output.contains("\"expected\":2,\"matched\":2"), "\(even.output) \(even.errors)")
    try machine.write("odd", line(-660, "x") + line(-500, "true") + line(-100, "y"))
    let odd = try await machine.takeover("cron", "--observe", "--log", "odd", "--hours", "1")
    #expect(odd.status == 1 && odd.output.contains("only cron ran"), "\(odd.output) \(odd.errors)")
  }

  @Test("timers are read with drop-ins, instances and masks, also through links inside of the root")
  func timers() async throws {
    let machine = try Machine()
    let units = "etc/systemd/system"
    for folder in ["usr/lib/systemd/system", "\(units)/daily.timer.d", "\(units)/multi-user.target.wants"] {
      try FileManager.default.createDirectory(atPath: "\(machine.path)/\(folder)", withIntermediateDirectories: true)
    }
    func link(_ name: String, _ target: String) throws {
      try FileManager.default.createSymbolicLink(atPath: "\(machine.path)/\(name)", withDestinationPath: target)
    }
    try machine.write("usr/lib/systemd/system/daily.timer", "[Timer]\nOnCalendar=daily\n")
    try machine.write("usr/lib/systemd/system/daily.service", "[Service]\nUser=\(Machine.user)\nExecStart=/bin/daily\n")
    try machine.write("\(units)/daily.timer.d/night.conf", "[Timer]\nOnCalendar=\nOnCalendar=02:00\n")
    try machine.write("\(units)/copy@.timer", "[Timer]\nOnCalendar=Sun 03:00\n")
    try machine.write("\(units)/copy@.service", "[Service]\nUser=\(Machine.user)\nExecStart=/bin/copy %i\n")
    try machine.write("usr/lib/systemd/system/idle.timer", "[Timer]\nOnCalendar=daily\n")
    try machine.write("usr/lib/systemd/system/gone.timer", "[Timer]\nOnCalendar=daily\n")
    try link("\(units)/gone.timer", "/dev/null")
    try link("lib", "usr/lib")
    for (name, target) in [
      ("daily.timer", "/lib/systemd/system/daily.timer"), ("copy@home.timer", "../copy@.timer"), ("gone.timer", "../gone.timer"),
    ] {
      try link("\(units)/timers.target.wants/\(name)", target)
    }
    let shown = try await machine.takeover("timers", "--all")
    #expect(shown.status == 0, "\(shown.output) \(shown.errors)")
    #expect(shown.output.contains("[command.\"timer.daily\"]") && shown.output.contains("schedule = \"cron 0 2 * * *\""), "\(shown.output)")
    #expect(shown.output.contains("run = [\"/bin/copy\", \"home\"]") && shown.output.contains("it is masked"), "\(shown.output)")
    #expect(shown.output.contains("it is not enabled"))
    let before = try machine.everything()
    let applied = try await machine.takeover("timers", "--apply", "--into", "out")
    #expect(applied.status == 0, "\(applied.output) \(applied.errors)")
    #expect(try await machine.takeover("timers", "--undo", "--into", "out").status == 0)
    #expect(try machine.everything() == before)
    try link("\(units)/multi-user.target.wants/other-name.timer", "../daily.timer")
    #expect(try await machine.takeover("timers").status == 1)
  }

  @Test("hostile crontabs, logs and units are said to be so, and end nothing")
  func hostile() async throws {
    let machine = try Machine()
    try machine.write("etc/cron.d/zeros", Data(repeating: 0, count: 100_000))
    try machine.write("etc/cron.d/bytes", Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 167) }))
    try machine.write("etc/cron.d/long", "* * * * * root " + String(repeating: "x", count: 1_000_000) + "\n")
    try machine.write("etc/cron.d/empty", "")
    try machine.write("etc/cron.d/lines", String(repeating: "\n", count: 100_000))
    #expect(mkfifo("\(machine.path)/etc/cron.d/fifo", 0o644) == 0)
    try FileManager.default.createSymbolicLink(atPath: "\(machine.path)/etc/cron.d/loop", withDestinationPath: "loop")
    try FileManager.default.createSymbolicLink(
      atPath: "\(machine.path)/etc/cron.d/out", withDestinationPath: "../../../../../../etc/passwd")
    try machine.write("etc/systemd/system/x.timer", Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 41) }))
    try FileManager.default.createSymbolicLink(
      atPath: "\(machine.path)/etc/systemd/system/timers.target.wants/x.timer", withDestinationPath: "../x.timer")
    let cron = try await machine.takeover("cron")
    #expect(cron.status == 1 && cron.output.contains("fifo"), "\(cron.status) \(cron.errors)")
    #expect(!cron.output.contains("root:x:0"))
    let timers = try await machine.takeover("timers", "--json")
    #expect(timers.status == 1, "\(timers.errors)")
    let observed = try await machine.takeover("cron", "--observe", "--log", "etc/cron.d/bytes")
    #expect(observed.status == 1 && observed.errors.contains("no line with a time"), "\(observed.errors)")
  }

  @Test("a crontab alone is read with --file, whose it is with --user, and is never changed")
  func file() async throws {
    let machine = try Machine()
    try machine.write("mine", "0 5 * * * x\n")
    let shown = try await TaskHostProcess.run(["takeover", "cron", "--file", "mine", "--toml"], directory: machine.path)
    #expect(shown.status == 0 && shown.output.contains("[command.\"cron.x\"]") && !shown.output.contains("user ="), "\(shown.errors)")
    let applied = try await TaskHostProcess.run(
      ["takeover", "cron", "--file", "mine", "--apply", "--into", "out", "--root", machine.path], directory: machine.path)
    #expect(applied.status == 0, "\(applied.errors)")
    #expect(try machine.read("mine") == "0 5 * * * x\n")
    for wrong in [
      ["--user", "x"], ["--apply"], ["--into", "out"], ["--apply", "--undo", "--into", "out"], ["--observe", "--hours", "0"],
    ] {
      #expect(try await TaskHostProcess.run(["takeover", "cron"] + wrong, directory: machine.path).status == 2, "\(wrong)")
    }
  }
}
