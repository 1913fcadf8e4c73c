import Glibc
import HostThreads
import Takeover

/// Reads the timers and services of systemd from its folders of units.
struct TimerPlaces {
  let root: RootFolder

  /// What stands earlier hides a file of the same name in a later one.
  private static let folders = [
    "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system",
  ]
  private static let largest = 1 << 20

  /// Everything below the root.
  func machine() -> TimerMachine {
    var unreadable: [(path: String, why: String)] = []
    var files: [String: String] = [:]
    // The names of timers that something starts at boot, and the links that do.
    var enabled: [String: [String]] = [:]
    for folder in Self.folders {
      for name in names(folder, &unreadable) {
        if name.hasSuffix(".timer") || name.hasSuffix(".service") {
          if files[name] == nil, !isAlias(name, in: folder) { files[name] = "\(folder)/\(name)" }
        } else if name.hasSuffix(".wants") || name.hasSuffix(".requires") {
          for timer in names("\(folder)/\(name)", &unreadable) where timer.hasSuffix(".timer") {
            enabled[timer, default: []].append("\(folder)/\(name)/\(timer)")
          }
        }
      }
    }
    func unit(_ name: String) -> UnitFiles? { self.unit(name, files, &unreadable) }
    let timers = Set(files.keys.filter { $0.hasSuffix(".timer") && !$0.hasSuffix("@.timer") }).union(enabled.keys)
    var services: [String: UnitFiles] = [:]
    var read: [UnitFiles] = []
    for name in timers.sorted() {
      guard let timer = unit(name) else {
        if let place = enabled[name]?.first {
          unreadable.append((place, "names a timer that has no file of that name: if it is another name of one, look at that one"))
        }
        continue
      }
      read.append(timer)
      for service in timer.services where services[service] == nil { services[service] = unit(service) }
    }
    var machine = TimerMachine(timers: read, services: services, enabled: Set(enabled.keys))
    machine.unreadable = unreadable
    machine.links = enabled
    machine.account = RootUsers(root).account
    let root = root
    machine.environmentFile = { try? root.read($0, atMost: 65_536).bytes }
    return machine
  }

  /// What is to change so that nothing starts these timers at boot: links that go, and links to `/dev/null` that hide a timer whose own link
  /// belongs to a package.
  static func switching(_ timers: [String], of machine: TimerMachine) -> (removed: [String], masks: [String]) {
    var (removed, masks): ([String], [String]) = ([], [])
    for timer in timers {
      let links = machine.links[timer] ?? []
      let own = links.filter { link in folders.prefix(2).contains { link.hasPrefix($0 + "/") } }
      removed += own
      if own.count < links.count { masks.append("\(folders[0])/\(timer)") }
    }
    return (removed, masks)
  }

  private func names(_ path: String, _ unreadable: inout [(path: String, why: String)]) -> [String] {
    do throws(ErrorNumber) { return try root.names(path) ?? [] } catch {
      unreadable.append((path, "cannot be read: \(error): run this as root"))
      return []
    }
  }

  /// Whether a name is a link to a unit of another name.
  private func isAlias(_ name: String, in folder: String) -> Bool {
    guard let target = root.link("\(folder)/\(name)"), let last = target.split(separator: "/").last else { return false }
    return target != "/dev/null" && last != name && !last.contains("@.")
  }

  /// `backup@.timer` of `backup@home.timer`; nil without an instance.
  private static func template(of name: String) -> String? {
    guard let at = name.firstIndex(of: "@"), let dot = name.lastIndex(of: "."), at < dot else { return nil }
    return String(name[...at] + name[dot...])
  }

  private func unit(_ name: String, _ files: [String: String], _ unreadable: inout [(path: String, why: String)]) -> UnitFiles? {
    let template = Self.template(of: name)
    guard let path = files[name] ?? template.flatMap({ files[$0] }) else { return nil }
    if root.link(path) == "/dev/null" { return UnitFiles(name: name, texts: [], path: path, isMasked: true) }
    guard let bytes = read(path, &unreadable) else { return nil }
    var texts = [UnitText(bytes, file: path)]
    var dropIns: [String: String] = [:]
    for folder in Self.folders {
      for unit in [name] + (template.map { [$0] } ?? []) {
        for conf in names("\(folder)/\(unit).d", &unreadable) where conf.hasSuffix(".conf") && dropIns[conf] == nil {
          dropIns[conf] = "\(folder)/\(unit).d/\(conf)"
        }
      }
    }
    for (_, place) in dropIns.sorted(by: { $0.key < $1.key }) where root.link(place) != "/dev/null" {
      if let bytes = read(place, &unreadable) { texts.append(UnitText(bytes, file: place)) }
    }
    return UnitFiles(name: name, texts: texts, path: path, isMasked: bytes.isEmpty)
  }

  private func read(_ path: String, _ unreadable: inout [(path: String, why: String)]) -> [UInt8]? {
    do throws(ErrorNumber) {
      let (bytes, _) = try root.read(path, atMost: Self.largest + 1)
      guard bytes.count <= Self.largest else { throw ErrorNumber(EFBIG) }
      return bytes
    } catch {
      unreadable.append((path, "cannot be read: \(error)"))
      return nil
    }
  }
}
