import Glibc
import HostConditions
import HostThreads
import TaskModel

/// A condition monitor in a process of its own, which a test starts in a network namespace of its own.
///
/// Arguments are `key=value`, commands are lines of the standard input; each is answered by one line. A line that begins with `changed` comes
/// whenever the monitor says so.
@main struct ConditionsProbe {
  static func main() {
    do { try serve() } catch {
      tell("failed \(error)")
      exit(1)
    }
  }

  private static func serve() throws {
    var settings = ConditionSettings()
    var sources = ConditionSources(storage: "/")
    for argument in CommandLine.arguments.dropFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw Usage(argument) }
      switch parts[0] {
      case "holds_ms": settings.networkHoldsAfter = .milliseconds(Int64(parts[1]) ?? 0)
      case "lost_ms": settings.networkLostAfter = .milliseconds(Int64(parts[1]) ?? 0)
      case "metered": settings.meteredInterfaces = [parts[1]]
      case "supplies": sources.powerSupplies = parts[1]
      case "buffer": sources.routeBuffer = Int32(parts[1])
      case "bus": sources.systemBus = parts[1]
      default: throw Usage(argument)
      }
    }
    settings.powerLostAfter = .zero
    settings.powerEvery = .seconds(3600)
    let gate = Gate()
    let monitor = try ConditionMonitor(settings: settings, sources: sources, clock: SystemClock()) { report in
      gate.pass()
      tell("changed \(text(report))")
    }
    tell("ready")
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      switch words.first {
      case "interest":
        monitor.setInterest(conditions(words.dropFirst()))
        tell("interested")
      case "override":
        monitor.override(conditions(words.dropFirst(2)), holds: words[1] == "held")
        tell("overridden")
      case "stall":
        gate.close()
        tell("stalled")
      case "resume":
        gate.open()
        tell("resumed")
      case "run": tell("ran \(run(String(line.dropFirst(4))))")
      case "report": tell("report \(text(monitor.report))")
      case "look": tell("look \(text(monitor.look(within: .seconds(10))))")
      case "counters":
        let counters = monitor.counters
        tell("counters wakeups=\(counters.wakeUps) dumps=\(counters.dumps) overruns=\(counters.overruns) readings=\(counters.readings)")
      case "files":
        // No descriptor is to be had from here on.
        var limits = rlimit(rlim_cur: rlim_t(words[1]) ?? 0, rlim_max: 1024)
        tell("files \(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits))")
      case "monitors": tell("monitors \(try openedAndStopped(Int(words[1]) ?? 0))")
      case "uevent": tell("uevent \(uevent(words[1]))")
      default: throw Usage(line)
      }
    }
    monitor.stop()
    tell("stopped")
  }

  /// How many descriptors more are open after so many monitors were made, used and stopped.
  private static func openedAndStopped(_ count: Int) throws -> Int {
    var before = 0
    for number in 0...count {
      let monitor = try ConditionMonitor(sources: ConditionSources(storage: "/"), clock: SystemClock()) { _ in }
      monitor.setInterest(.all)
      _ = monitor.look(within: .seconds(30))
      monitor.stop()
      if number == 0 { before = openDescriptors() }
    }
    return openDescriptors() - before
  }

  /// The descriptors of this process.
  private static func openDescriptors() -> Int { (0..<1024).count { fcntl($0, F_GETFD) >= 0 } }

  /// Prints a line in one piece, whatever thread it comes from.
  private static func tell(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(1, bytes, bytes.count)
  }

  private static func conditions(_ names: some Sequence<String>) -> Conditions { Conditions(names.compactMap(Conditions.init(name:))) }

  private static func text(_ report: ConditionReport) -> String {
    "held=\(report.held.names.joined(separator: ",")) "
      + report.states.map { state in
        "\(state.condition.names[0]){\(state.isKnown ? "" : "unknown ")\(state.settlesAt == nil ? "" : "settling ")\(state.observed)}"
      }.joined(separator: " ")
  }

  private static func run(_ command: String) -> Int32 {
    var child = pid_t()
    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(command), nil]
    defer { for argument in arguments { free(argument) } }
    guard posix_spawn(&child, "/bin/sh", nil, nil, arguments, environ) == 0 else { return -1 }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status
  }

  /// Has the kernel send an event of a device of `subsystem` in this namespace; 0, or `errno`.
  private static func uevent(_ subsystem: String) -> Int32 {
    let facts = "change@/devices/test\0ACTION=change\0SUBSYSTEM=\(subsystem)\0"
    var bytes: [UInt8] = []
    func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { bytes += $0 } }
    append(UInt32(16 + facts.utf8.count))
    append(UInt16(0x10))  // the lowest type that is no control message
    append(UInt16(1))  // NLM_F_REQUEST
    append(UInt32(1))
    append(UInt32(0))
    do {
      return try NetlinkSocket(protocol: 15, groups: 0).send(bytes + Array(facts.utf8)) ?? 0
    } catch { return error.code }
  }
}
