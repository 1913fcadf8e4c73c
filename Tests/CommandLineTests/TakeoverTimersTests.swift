import Foundation
import Glibc
import TestSupport
import Testing

@Suite("taskhost takeover timers", .timeLimit(.minutes(5)))
struct TakeoverTimersTests {
  /// A tree of units, with what a systemctl of its own does to it. Removed with it.
  private final class Machine {
    let path: String
    static let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "root"
    static let units = "etc/systemd/system"

    /// Its systemctl notes each call, and keeps which timers are active. It stops none whose name is in `stuck`.
    private static let systemctl = """
      #!/bin/sh
      here=$(dirname "$(dirname "$0")")
      echo "$@" >> "$here/calls"
      verb=$1; shift; [ "$1" = -- ] && shift
      code=0
      for unit; do
        case $verb in
          is-active) if [ -e "$here/active/$unit" ]; then echo active; else echo inactive; code=3; fi ;;
          stop) if grep -qxF "$unit" "$here/stuck" 2>/dev/null; then echo "Failed to stop $unit: stuck" >&2; code=1
            else rm -f "$here/active/$unit"; fi ;;
          start) touch "$here/active/$unit" ;;
        esac
      done
      exit $code
      """

    /// daily and weekly are enabled and active, copy@home is enabled, vendor is started by the distribution's own link.
    init() throws {
      path = FileManager.default.temporaryDirectory.appending(path: "taskhost-timers-\(UUID().uuidString)").resolvingSymlinksInPath().path
      let system = "usr/lib/systemd/system"
      for folder in ["\(Self.units)/timers.target.wants", "\(Self.units)/multi-user.target.wants", "\(system)/timers.target.wants", "out"] {
        try folderOf(folder)
      }
      for folder in ["bin", "active"] { try folderOf(folder) }
      try write("bin/systemctl", Self.systemctl, mode: 0o755)
      for name in ["daily", "weekly", "vendor", "idle"] {
        try write("\(system)/\(name).timer", "[Timer]\nOnCalendar=02:00\n[Install]\nWantedBy=timers.target\n")
        try write("\(system)/\(name).service", "[Service]\nUser=\(Self.user)\nExecStart=/bin/true\n")
      }
      try write("\(Self.units)/copy@.timer", "[Timer]\nOnCalendar=Sun 03:00\n[Install]\nWantedBy=timers.target\n")
      try write("\(Self.units)/copy@.service", "[Service]\nUser=\(Self.user)\nExecStart=/bin/true %i\n")
      for name in ["daily", "weekly"] { try link("\(Self.units)/timers.target.wants/\(name).timer", "/\(system)/\(name).timer") }
      try link("\(Self.units)/multi-user.target.wants/daily.timer", "/\(system)/daily.timer")
      try link("\(Self.units)/timers.target.wants/copy@home.timer", "../copy@.timer")
      try link("\(system)/timers.target.wants/vendor.timer", "../vendor.timer")
      for name in ["daily", "weekly", "vendor"] { try write("active/\(name).timer", "") }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func folderOf(_ name: String) throws {
      try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
    }

    func write(_ name: String, _ text: String, mode: Int = 0o644) throws {
      try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(path)/\(name)")
    }

    func link(_ name: String, _ target: String) throws {
      try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
    }

    /// Every file and link below it but the calls, with content.
    func everything() throws -> [String: String] {
      var all: [String: String] = [:]
      for case let name as String in try #require(FileManager.default.enumerator(atPath: path)) where name != "calls" {
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(path)/\(name)")
        all[name] = link.map { "-> \($0)" } ?? (try? String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)) ?? ""
      }
      return all
    }

    /// The timers that something starts at boot, and those that are active.
    func enabled() throws -> Set<String> {
      Set(try everything().keys.filter { $0.contains(".wants/") }.map { String($0.split(separator: "/").last ?? "") })
    }

    func active() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: "\(path)/active").sorted() }

    func calls() -> [String] {
      ((try? String(contentsOfFile: "\(path)/calls", encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    /// As a copy of a machine.
    func offline(_ arguments: String...) async throws -> Program.Result {
      try await TaskHostProcess.run(["takeover", "timers"] + arguments + ["--root", path], directory: path)
    }

    /// With its folders in the place of this machine's, in a mount namespace.
    func online(_ arguments: String...) async throws -> Program.Result {
      let mounts = """
        mount --bind "$1/etc/systemd" /etc/systemd && mount --bind "$1/usr/lib/systemd" /usr/lib/systemd &&
        mount -t tmpfs none /run && mkdir -p /run/systemd/system && cd "$1" && shift && exec "$@"
        """
      return try await Program.run(
        "unshare", ["-Urm", "sh", "-c", mounts, "sh", path, try BuiltProgram.taskhost, "takeover", "timers"] + arguments,
        environment: ["PATH": "\(path)/bin:/usr/local/bin:/usr/bin:/bin"])
    }
  }

  @Test("--apply of a copy removes the links that start timers, masks those of the distribution, and --undo puts all back")
  func offline() async throws {
    let machine = try Machine()
    let before = try machine.everything()
    let applied = try await machine.offline("--apply", "--into", "out")
    #expect(applied.status == 0, "\(applied.output) \(applied.errors)")
    let after = try machine.everything()
    let links = [
      "timers.target.wants/daily", "multi-user.target.wants/daily", "timers.target.wants/weekly", "timers.target.wants/copy@home",
    ]
    for link in links {
      #expect(after["\(Machine.units)/\(link).timer"] == nil)
      #expect(applied.output.contains("/\(Machine.units)/\(link).timer: link removed"), "\(applied.output)")
    }
    #expect(after["\(Machine.units)/vendor.timer"] == "-> /dev/null")
    #expect(after["usr/lib/systemd/system/timers.target.wants/vendor.timer"] == "-> ../vendor.timer")
    #expect(machine.calls().isEmpty && !applied.output.contains("stopped"))
    if Program.status(["systemctl", "--version"]) == 0 {
      for (unit, state) in [("daily.timer", "disabled"), ("vendor.timer", "masked"), ("copy@home.timer", "disabled")] {
        let seen = try await Program.run("systemctl", ["--root", machine.path, "is-enabled", unit])
        #expect(seen.output == "\(state)\n", "\(unit): \(seen.output) \(seen.errors)")
      }
    }
    // systemd removes a folder of links with its last one.
    try FileManager.default.removeItem(atPath: "\(machine.path)/\(Machine.units)/multi-user.target.wants")
    let undone = try await machine.offline("--undo", "--into", "out")
    #expect(undone.status == 0, "\(undone.output) \(undone.errors)")
    #expect(try machine.everything() == before)
  }

  @Test("--undo leaves everything when somebody has enabled a timer anew, and follows no record of other links")
  func changedSince() async throws {
    let machine = try Machine()
    #expect(try await machine.offline("--apply", "--into", "out").status == 0)
    let place = "\(Machine.units)/timers.target.wants/daily.timer"
    try machine.link(place, "../mine.timer")
    let before = try machine.everything()
    let undone = try await machine.offline("--undo", "--into", "out")
    #expect(undone.status == 6 && undone.errors.contains("/\(place): changed since the takeover"), "\(undone.errors)")
    #expect(try machine.everything() == before)
    try FileManager.default.removeItem(atPath: "\(machine.path)/\(place)")
    let list = try String(contentsOfFile: "\(machine.path)/out/takeover-timers.undo/record", encoding: .utf8)
    for path in ["/etc/shadow", "/etc/systemd/system/../../x.timer", "/etc/systemd/system/x.service"] {
      try machine.write("out/takeover-timers.undo/record", list.replacing("/\(place)", with: path))
      let undone = try await machine.offline("--undo", "--into", "out")
      #expect(undone.status != 0 && undone.output.isEmpty, "\(path): \(undone.output) \(undone.errors)")
    }
    try machine.write("out/takeover-timers.undo/record", list)
    #expect(try await machine.offline("--undo", "--into", "out").status == 0)
  }

  @Test("--apply writes through no link in place of a folder, and nothing where a mask cannot be")
  func refused() async throws {
    let linked = try Machine()
    let wants = "\(Machine.units)/multi-user.target.wants"
    try FileManager.default.moveItem(atPath: "\(linked.path)/\(wants)", toPath: "\(linked.path)/elsewhere")
    try linked.link(wants, "/elsewhere")
    let taken = try Machine()
    try taken.write("\(Machine.units)/vendor.timer", "[Timer]\nOnCalendar=04:00\n")
    for machine in [linked, taken] {
      let before = try machine.everything()
      let applied = try await machine.offline("--apply", "--into", "out")
      #expect(applied.status == 6 && applied.errors.contains("a symbolic link"), "\(applied.output) \(applied.errors)")
      #expect(try machine.everything() == before)
    }
  }

  @Suite("with systemd", .enabled(if: Program.status(["unshare", "-Urm", "true"]) == 0, "user namespaces are allowed"))
  struct Online {
    @Test("--apply stops the timers that were active, and --undo starts those alone")
    func switches() async throws {
      let machine = try Machine()
      try FileManager.default.removeItem(atPath: "\(machine.path)/active/weekly.timer")
      let before = try machine.everything()
      let applied = try await machine.online("--apply", "--into", "out")
      #expect(applied.status == 0, "\(applied.output) \(applied.errors)")
      #expect(try machine.enabled() == ["vendor.timer"])
      #expect(try machine.active() == [])
      #expect(applied.output.contains("daily.timer: stopped") && !applied.output.contains("weekly.timer: stopped"), "\(applied.output)")
      #expect(
        machine.calls() == [
          "is-active -- copy@home.timer daily.timer vendor.timer weekly.timer", "daemon-reload", "stop -- daily.timer vendor.timer",
        ])
      let undone = try await machine.online("--undo", "--into", "out", "--json")
      #expect(undone.status == 0 && undone.output.contains("\"started\":[\"daily.timer\",\"vendor.timer\"]"), "\(undone.errors)")
      #expect(machine.calls().suffix(2) == ["daemon-reload", "start -- daily.timer vendor.timer"])
      #expect(try machine.everything() == before)
    }

    @Test("a timer that cannot be stopped leaves all as they were: enabled, active, and nothing written")
    func stuck() async throws {
      let machine = try Machine()
      try machine.write("stuck", "vendor.timer\n")
      let before = try machine.everything()
      let applied = try await machine.online("--apply", "--into", "out")
      #expect(applied.status == 1 && applied.errors.contains("Failed to stop vendor.timer: stuck"), "\(applied.output) \(applied.errors)")
      #expect(applied.output.isEmpty)
      #expect(try machine.everything() == before)
    }

    @Test("without a systemctl that answers, nothing is written")
    func silent() async throws {
      let machine = try Machine()
      try machine.write("bin/systemctl", "#!/bin/sh\necho 'Failed to connect to bus' >&2\nexit 1\n", mode: 0o755)
      let before = try machine.everything()
      let applied = try await machine.online("--apply", "--into", "out")
      #expect(applied.status == 1 && applied.errors.contains("Failed to connect to bus"), "\(applied.output) \(applied.errors)")
      #expect(try machine.everything() == before)
    }
  }
}
