import Glibc
import HostProcesses

/// The systemd that runs this machine.
struct TimerManager {
  /// nil for a copy or an image of a machine, and where systemd is not the first process: then no timer runs.
  init?(_ root: RootFolder) {
    // As sd_booted(3) does.
    guard root.isMachine, root.status("/run/systemd/system").map({ $0.st_mode & S_IFMT == S_IFDIR }) ?? false else { return nil }
  }

  /// Those of the timers that are active.
  func active(_ names: [String]) throws(CommandFailure) -> [String] {
    guard !names.isEmpty else { return [] }
    let end = try systemctl(["is-active", "--"] + names)
    // A line each, in their order, whatever the code.
    let states = end.output.split(separator: "\n").map(String.init)
    guard states.count == names.count else { throw failure("is-active", end) }
    return zip(names, states).filter { ["active", "activating", "reloading"].contains($0.1) }.map(\.0)
  }

  /// Has the links read again.
  func reload() throws(CommandFailure) { try carryOut(["daemon-reload"]) }

  func stop(_ names: [String]) throws(CommandFailure) {
    if !names.isEmpty { try carryOut(["stop", "--"] + names) }
  }

  func start(_ names: [String]) throws(CommandFailure) {
    if !names.isEmpty { try carryOut(["start", "--"] + names) }
  }

  private func carryOut(_ words: [String]) throws(CommandFailure) {
    let end = try systemctl(words)
    guard end.code == 0 else { throw failure(words.joined(separator: " "), end) }
  }

  private func failure(_ words: String, _ end: HelperProgram.End) -> CommandFailure {
    CommandFailure(.failed, "systemctl \(words)", end.complaint, remedy: "run this as root, and mend what systemctl says")
  }

  private func systemctl(_ words: [String]) throws(CommandFailure) -> HelperProgram.End {
    do throws(SystemFailure) { return try HelperProgram(words: ["systemctl"] + words).run() } catch {
      throw CommandFailure(.failed, "systemctl", "\(error.what): \(error.reason)")
    }
  }
}
