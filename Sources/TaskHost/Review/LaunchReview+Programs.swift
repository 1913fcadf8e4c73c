import Glibc
import HostWatches
import ProgramSearch
import TaskModel
import TaskScheduler

// What the configuration starts, and whom it tells.

extension LaunchReview {
  /// Commands whose program or folder is not there.
  func commands() -> [Finding] {
    configuration.commands.sorted { $0.key < $1.key }.filter { !$0.value.isNotice }.flatMap { identifier, command -> [Finding] in
      var findings: [Finding] = []
      func fail(_ seen: String, _ remedy: String) {
        findings.append(
          Finding(.commands, .failure, of: identifier, seen, why: "every run of \(identifier) will fail", remedy: remedy))
      }
      guard let program = command.words.first else { return [] }
      if let file = ProgramSearch.file(of: program, path: path(of: command)) {
        if let flaw = ProgramSearch.flaw(of: file) {
          fail("\(program) cannot be started: \(flaw)", "install it, make it executable (chmod +x), or correct run")
        }
      } else {
        fail("\(program) is in no folder of PATH (\(path(of: command)))", "install it, or name its whole path in run")
      }
      if let directory = command.directory {
        var info = stat()
        if stat(directory, &info) != 0 {
          fail("directory: \(directory): \(String(cString: strerror(errno)))", "create it, or correct directory")
        } else if info.st_mode & S_IFMT != S_IFDIR {
          fail("directory: \(directory) is not a directory", "name a directory")
        }
      }
      return findings
    }
  }

  /// The folders in which a command's program is searched.
  private func path(of command: CommandConfiguration) -> String {
    for variable in command.environment.reversed() where variable.hasPrefix("PATH=") { return String(variable.dropFirst("PATH=".count)) }
    guard command.environment.contains("PATH"), let own = getenv("PATH") else { return ProgramSearch.path }
    return String(cString: own)
  }

  /// Notifications, pings and traces that cannot be sent from here, whoever listens.
  func receivers() -> [Finding] {
    var findings: [Finding] = []
    func fail(_ subject: String, _ seen: String, _ why: String, _ remedy: String, _ verdict: Finding.Verdict = .failure) {
      findings.append(Finding(.receivers, verdict, of: subject, seen, why: why, remedy: remedy))
    }
    func readable(_ file: String, _ subject: String, _ key: String, _ why: String) {
      guard access(file, R_OK) != 0 else { return }
      fail(subject, "\(key) \(file): \(String(cString: strerror(errno)))", why, "create it, and let the host's user read it")
    }
    var needsSender = configuration.traces.url != nil || !configuration.pings.isEmpty
    for (index, rule) in configuration.notify.enumerated() {
      let name = "notify \(configuration.noticeName(index))"
      let lost = "nobody gets its notifications"
      needsSender = needsSender || rule.url != nil || rule.mail != nil
      if let program = rule.command.first, let flaw = ProgramSearch.flaw(of: program) {
        fail(name, "command \(program) cannot be started: \(flaw)", lost, "install it, or correct command")
      }
      if rule.mail != nil, let flaw = ProgramSearch.flaw(of: rule.sendmail) {
        fail(
          name, "sendmail \(rule.sendmail) cannot be started: \(flaw)", lost,
          "install a mail transfer agent, such as msmtp-mta, or name another program with sendmail")
      }
      if let file = rule.secretFile { readable(file, name, "secret_file", lost) }
      if let bus = rule.bus, access(bus, F_OK) != 0 {
        fail(
          name, "bus \(bus): \(String(cString: strerror(errno)))", "nothing is shown until that user has logged in", "correct bus, or wait",
          .warning)
      }
    }
    if let file = configuration.traces.headersFile {
      readable(file, "traces", "headers_file", "spans are sent without these headers, or not")
    }
    if needsSender, let flaw = ProgramSearch.flaw(of: HostConfiguration.notifyProgram) {
      findings.append(
        Finding(
          .programs, .failure, of: "taskhost-notify", "\(HostConfiguration.notifyProgram) cannot be started: \(flaw)",
          why: "webhooks, mails, pings and traces are not sent", remedy: "install taskhost again, with all its files"))
    }
    return findings
  }

  /// Schedules that are to wake a machine that cannot be woken.
  func waking() -> [Finding] {
    let names = configuration.scheduledRequests().filter(\.value.gates.wakes).map(\.key.description).sorted()
    guard !names.isEmpty else { return [] }
    do throws(WakeTimer.Failure) {
      _ = try WakeTimer()
      return []
    } catch {
      return [
        Finding(
          .schedules, .warning, of: names.joined(separator: ", "), "this machine cannot be woken from here: \(error)",
          why: "these schedules run when the machine is awake", remedy: "remove wake = true, or let the host's unit have what it needs")
      ]
    }
  }
}
