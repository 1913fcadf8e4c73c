import CalendarTime
import Glibc
import HostThreads
import Takeover

/// Reads what cron and anacron read, from the places where Debian has it.
struct CronPlaces {
  let root: RootFolder

  /// No crontab is larger; cron itself takes 10,000 lines of a thousand bytes.
  private static let largest = 16 << 20
  private static let folders = ["hourly", "daily", "weekly", "monthly", "yearly"]

  /// What makes cron's daemon and anacron known without a file of lines.
  private func empty() -> CronMachine {
    var machine = CronMachine(files: [])
    machine.hasAnacron = root.status("/usr/sbin/anacron") != nil
    machine.now = Int(clamping: MomentText.now / 1000)
    machine.isUser = RootUsers(root).isUser
    machine.zone = zone
    return machine
  }

  /// Everything below the root.
  func machine() -> CronMachine {
    var machine = empty()
    let isLSB = options().contains("-l")
    add("/etc/crontab", .system, to: &machine)
    for name in list("/etc/cron.d", &machine) {
      let flaw = RunPartsName.flaw(of: name, isLSB: isLSB)
      add("/etc/cron.d/\(name)", .system, flaw: flaw, to: &machine)
    }
    for spool in ["/var/spool/cron/crontabs", "/var/spool/cron"] {
      for name in list(spool, &machine) where !name.hasPrefix(".") && !name.hasPrefix("tmp.") {
        guard root.status("\(spool)/\(name)").map({ $0.st_mode & S_IFMT == S_IFREG }) ?? true else { continue }
        add("\(spool)/\(name)", .user(name), to: &machine)
      }
    }
    add("/etc/anacrontab", .anacron, to: &machine)
    for name in Self.folders {
      let path = "/etc/cron.\(name)"
      let scripts = list(path, &machine).map { CronFolder.Script(name: $0, flaw: scriptFlaw("\(path)/\($0)", $0)) }
      if !scripts.isEmpty { machine.folders.append(CronFolder(path: path, scripts: scripts)) }
    }
    return machine
  }

  /// One file, which need not be below the root.
  func machine(file: String, kind: CronFile.Kind) throws(CommandFailure) -> CronMachine {
    var machine = empty()
    do throws(ErrorNumber) {
      let bytes = try WholeTransfer.read(file, atMost: Self.largest + 1)
      guard bytes.count <= Self.largest else { throw ErrorNumber(EFBIG) }
      machine.files = [CronFile(path: file, kind: kind, bytes: bytes)]
    } catch {
      throw CommandFailure(.failed, file, error.description, remedy: "name a crontab that you can read")
    }
    return machine
  }

  private func list(_ path: String, _ machine: inout CronMachine) -> [String] {
    do throws(ErrorNumber) { return try root.names(path) ?? [] } catch {
      machine.unreadable.append((path, "cannot be read: \(error): run this as root"))
      return []
    }
  }

  private func add(_ path: String, _ kind: CronFile.Kind, flaw: String? = nil, to machine: inout CronMachine) {
    do throws(ErrorNumber) {
      let (bytes, status) = try root.read(path, atMost: Self.largest + 1)
      guard bytes.count <= Self.largest else { throw ErrorNumber(EFBIG) }
      let own = kind == .anacron ? nil : self.flaw(of: status, kind, machine)
      machine.files.append(
        CronFile(path: path, kind: kind, bytes: bytes, flaw: flaw ?? own, isFlawIntended: flaw != nil))
    } catch {
      guard error.code != ENOENT || root.link(path) != nil else { return }
      guard error.code != EISDIR else { return }
      let why = error.code == EACCES ? "run this as root" : "cron cannot read it either"
      machine.unreadable.append((path, "cannot be read: \(error): \(why)"))
    }
  }

  /// Why cron refuses a file for its owner or mode.
  private func flaw(of status: stat, _ kind: CronFile.Kind, _ machine: CronMachine) -> String? {
    if status.st_nlink > 1 { return "it has \(status.st_nlink) hard links: make it one" }
    switch kind {
    case .user(let name):
      if let name, !machine.isUser(name) { return "there is no user \"\(name)\"" }
      return status.st_mode & 0o7177 != 0 ? "its mode is \(Self.octal(status.st_mode)): cron expects 600" : nil
    case .system, .anacron:
      if status.st_uid != root.owner { return "it belongs to user \(status.st_uid): cron expects root" }
      return status.st_mode & 0o022 != 0 ? "others can write it (mode \(Self.octal(status.st_mode))): use 644" : nil
    }
  }

  private func scriptFlaw(_ path: String, _ name: String) -> String? {
    if let flaw = RunPartsName.flaw(of: name) { return flaw }
    guard let status = root.status(path) else { return "it is a link to nothing" }
    guard status.st_mode & S_IFMT == S_IFREG else { return "it is not a file" }
    return status.st_mode & 0o111 == 0 ? "it is not executable" : nil
  }

  private static func octal(_ mode: UInt32) -> String { String(mode & 0o7777, radix: 8) }

  /// The words of `EXTRA_OPTS` in `/etc/default/cron`.
  private func options() -> [Substring] {
    guard let (bytes, _) = try? root.read("/etc/default/cron", atMost: 65_536) else { return [] }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    return lines.filter { $0.hasPrefix("EXTRA_OPTS=") }.flatMap { $0.dropFirst(11).split { " \"'".contains($0) } }
  }

  /// The machine's time zone.
  var zone: TimeZoneRules { (try? ZoneDirectory().rules(of: zoneName())) ?? .utc }

  private func zoneName() -> String {
    if root.isMachine { return HostTimeZone.name }
    if let link = root.link("/etc/localtime"), let range = link.firstRange(of: "zoneinfo/") { return String(link[range.upperBound...]) }
    guard let (bytes, _) = try? root.read("/etc/timezone", atMost: 256) else { return "UTC" }
    return String(decoding: bytes, as: UTF8.self).split { $0.isWhitespace }.first.map(String.init) ?? "UTC"
  }
}
