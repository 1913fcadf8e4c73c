import CalendarTime
import Glibc
import HostConditions
import HostThreads
import HostWatches
import TaskModel
import TaskStore
import WorkerProcesses
import WorkerSandbox

/// What a machine, as this process's user sees it, means for the host of a configuration: `taskhost doctor`.
///
/// Changes nothing but a file in the state directory that it makes and removes. Blocks on the disk.
public struct MachineReview: Sendable {
  let configuration: HostConfiguration
  /// Whether a host runs with this configuration: then it knows some things better.
  let isRunning: Bool
  /// Where the conditions are read; nil: of this machine.
  var sources: ConditionSources?

  /// - Parameters:
  ///   - configuration: The host's.
  ///   - isRunning: Whether a host runs with it.
  public init(_ configuration: HostConfiguration, isRunning: Bool) {
    (self.configuration, self.isRunning) = (configuration, isRunning)
  }

  /// Everything that was looked at, what is well too.
  public func findings() -> [Finding] { sandbox() + cgroups() + limits() + [clock()] + timeZone() + conditions() + state() }

  // MARK: The kernel

  private func sandbox() -> [Finding] {
    let support = WorkerSandbox.support(landlockLimit: WorkerSpecs.landlockLimit)
    let seen = "Landlock ABI \(support.landlockABI)\(support.seccomp ? " and seccomp" : "")"
    guard !support.missing.isEmpty else { return [Finding(.sandbox, .ok, seen)] }
    return support.missing.map {
      Finding(
        .sandbox, .warning, $0, why: "plugins run without this part of their sandbox",
        remedy: "use a kernel that has it; with require_sandbox = true, the host does not start without")
    }
  }

  /// The running host says itself what its groups cannot limit.
  private func cgroups() -> [Finding] {
    let missing = isRunning ? [] : WorkerCgroups.missing(limitsProcessors: configuration.limitsProcessors)
    guard !missing.isEmpty else {
      return isRunning ? [] : [Finding(.cgroups, .ok, "this process's control group is delegated")]
    }
    return missing.map {
      Finding(
        .cgroups, .warning, $0,
        why: "a host started as this command was could not limit processes and processor time, nor the memory of what workers start",
        remedy: "start it as a service with Delegate=yes (taskhost.service has it), or with systemd-run --user --scope -p Delegate=yes")
    }
  }

  private func limits() -> [Finding] {
    if let obstacle = ProcessLimits.obstacle { return [.obstacle(.limits, obstacle)] }
    let problems = ProcessLimits.problems.map { Finding(.limits, $0) }
    let descriptors = ProcessLimits.descriptors.map { "\($0) descriptors" } ?? "descriptors without a limit"
    return problems.isEmpty ? [Finding(.limits, .ok, "\(descriptors), and enough threads and address space")] : problems
  }

  // MARK: Time

  /// The first moment at which a clock can be right: nothing has run before.
  private static let earliest = WallTime(unixSeconds: 1_735_689_600)

  private func clock() -> Finding {
    let now = SystemClock().wallTime
    let text = RFC3339.format(now) ?? "beyond all years"
    guard now >= Self.earliest else {
      return Finding(
        .clock, .failure, "it is \(text), which cannot be",
        why: "schedules by the calendar run at wrong times, and certificates seem invalid",
        remedy: "set the clock, and have it kept: timedatectl set-ntp true")
    }
    switch ClockKeeping.current {
    case .adrift:
      return Finding(
        .clock, .warning, "it is \(text), and nothing keeps the clock right", why: "schedules by the calendar drift with it",
        remedy: "start a time service: timedatectl set-ntp true, or install chrony")
    case .unknown: return Finding(.clock, .ok, "it is \(text); the kernel does not say whether something keeps the clock right")
    case .kept: return Finding(.clock, .ok, "it is \(text), and something keeps the clock right")
    }
  }

  private func timeZone() -> [Finding] {
    let name = HostTimeZone.name
    do {
      _ = try ZoneDirectory().rules(of: name)
      return []
    } catch {
      return [
        Finding(
          .clock, .warning, of: name, "the machine's time zone: \(error)", why: "schedules without a zone of their own run by UTC",
          remedy: "install tzdata, or set the zone: timedatectl set-timezone")
      ]
    }
  }

  // MARK: The state directory

  private func state() -> [Finding] {
    let path = configuration.stateDirectory
    var info = stat()
    guard stat(path, &info) == 0 else { return [absent(path, errno)] }
    guard info.st_mode & S_IFMT == S_IFDIR else {
      return [.obstacle(.stateDirectory, of: path, "it is not a directory", remedy: "move it away, or set another state_directory")]
    }
    return [permissions(path, info)] + disk(path) + [store(path)]
  }

  private func absent(_ path: String, _ code: Int32) -> Finding {
    guard code == ENOENT else {
      return .obstacle(
        .stateDirectory, of: path, String(cString: strerror(code)), remedy: "let the host's user (\(geteuid())) reach it")
    }
    // The host makes it, with all that is missing above it.
    var above = path
    while let slash = above.lastIndex(of: "/"), slash != above.startIndex, access(above, F_OK) != 0 { above = String(above[..<slash]) }
    guard access(above, W_OK) == 0 else {
      return .obstacle(
        .stateDirectory, of: path, "it does not exist, and the host's user (\(geteuid())) may not make it in \(above)",
        remedy: "mkdir -m 700 \(path), and chown it to the host's user")
    }
    return Finding(.stateDirectory, .ok, of: path, "it does not exist yet; the host makes it")
  }

  private func permissions(_ path: String, _ info: stat) -> Finding {
    do throws(HostFailure) { try StateDirectory.probeWriting(in: path) } catch {
      return .obstacle(.stateDirectory, of: path, error.message)
    }
    guard info.st_uid == geteuid() || info.st_uid == 0 else {
      return Finding(
        .stateDirectory, .warning, of: path, "user \(info.st_uid) owns it, and this is user \(geteuid())",
        why: "that user can replace the store and what plugins have stored", remedy: "chown it to the host's user")
    }
    guard info.st_mode & 0o022 == 0 else {
      return Finding(
        .stateDirectory, .warning, of: path, "other users may write there (mode \(String(info.st_mode & 0o7777, radix: 8)))",
        why: "they can delete the store", remedy: "chmod 700 \(path)")
    }
    return Finding(.stateDirectory, .ok, of: path, "it can be written")
  }

  /// With fewer inodes, the host's own files do not fit either: copies, logs, marks.
  private static let fewInodes = 1000

  private func disk(_ path: String) -> [Finding] {
    let glance = StorageGlance(at: path, configuration.observedConditions)
    var findings: [Finding] = []
    if glance.isLow {
      findings.append(
        Finding(
          .disk, .warning, of: path, glance.observed,
          why: "requests with storage_not_low wait, and once the disk is full, nothing is accepted or run", remedy: "free some space"))
    }
    var facts = statvfs()
    // Some file systems make inodes as they need them, and count none.
    if statvfs(path, &facts) == 0, facts.f_files > 0, facts.f_favail < Self.fewInodes {
      findings.append(
        Finding(
          .disk, facts.f_favail < 10 ? .failure : .warning, of: path,
          facts.f_favail == 1 ? "1 inode is free" : "\(facts.f_favail) inodes are free",
          why: "without one, no file can be made: the store cannot be written", remedy: "delete files there, many small ones"))
    }
    return findings.isEmpty ? [Finding(.disk, .ok, of: path, glance.observed)] : findings
  }

  private func store(_ path: String) -> Finding {
    let file = path + "/taskhost.sqlite"
    guard !isRunning else { return Finding(.store, .ok, of: file, "the running host has it open, and checks it itself") }
    switch StoreGlance.look(at: file, marks: [path + "/store.mark"] + (configuration.storeMark.map { [$0] } ?? [])) {
    case .absent: return Finding(.store, .ok, of: file, "there is none yet; the host makes it")
    case .open: return Finding(.store, .ok, of: file, "its last host did not close it; the next one recovers it, and checks it")
    case .whole(let requests): return Finding(.store, .ok, of: file, "it is whole, with \(requests) requests")
    case .large:
      return Finding(.store, .ok, of: file, "it can be opened; it is too large to be checked here: the host checks it once it runs")
    case .flaw(let error):
      return .obstacle(.store, of: file, error.observed, remedy: error.remedy ?? "see Documentation/store.md for what can be saved")
    }
  }
}
