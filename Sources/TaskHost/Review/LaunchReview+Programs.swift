import Glibc
import HostThreads
import HostWatches
import ProgramSearch
import TaskModel
import TaskScheduler
import WorkerSandbox

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
      let isSandboxed = configuration.plugin(identifier).isolation == .process
      let path = path(of: command, isSandboxed)
      if let file = ProgramSearch.file(of: program, path: path) {
        if let flaw = ProgramSearch.flaw(of: file) {
          fail("\(program) cannot be started: \(flaw)", "install it, make it executable (chmod +x), or correct run")
        } else if isSandboxed, let flaw = sandboxFlaw(of: file) {
          fail(
            "\(program) cannot be started: \(flaw)", "move it to /usr/local/bin, name its interpreter in run, or remove the entitlements")
        }
      } else {
        fail("\(program) is in no folder of PATH (\(path))", "install it, or name its whole path in run")
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
  private func path(of command: CommandConfiguration, _ isSandboxed: Bool) -> String {
    for variable in command.environment.reversed() where variable.hasPrefix("PATH=") { return String(variable.dropFirst("PATH=".count)) }
    guard command.environment.contains("PATH"), let own = getenv("PATH") else {
      return isSandboxed ? WorkerSpecs.path : ProgramSearch.path
    }
    return String(cString: own)
  }

  /// Whether this machine's kernel keeps a sandbox from starting programs elsewhere.
  static var confinesPrograms: Bool { WorkerSandbox.support(landlockLimit: WorkerSpecs.landlockLimit).landlockABI > 0 }

  /// Why a sandbox keeps a program from starting; nil if it does not. Entitlements give no right to start what is at their paths.
  private func sandboxFlaw(of file: String) -> String? {
    guard Self.confinesPrograms else { return nil }
    let folders = WorkerSandbox.programFolders.compactMap(RealPath.of)
    let programs = [file, ProgramSearch.interpreter(of: file)].compactMap(\.self)
    let outside = programs.first { program in
      RealPath.of(program).map { real in !folders.contains { real.hasPrefix($0 + "/") } } ?? false
    }
    guard let outside else { return nil }
    let rule = "a command with entitlements starts programs in the folders of the system alone, such as /usr/bin and /usr/local/bin"
    return outside == file ? rule : "its first line names \(outside): \(rule)"
  }

  /// Notifications, pings and traces that cannot be sent from here, whoever listens.
  func receivers() -> [Finding] {
    var findings: [Finding] = []
    func fail(_ subject: String, _ seen: String, _ why: String, _ remedy: String, _ verdict: Finding.Verdict = .failure) {
      findings.append(Finding(.receivers, verdict, of: subject, seen, why: why, remedy: remedy))
    }
    func readable(_ file: String, _ subject: String, _ key: String, _ why: String, mayBeEmpty: Bool = false) {
      var info = stat()
      let flaw: String? =
        if access(file, R_OK) != 0 || stat(file, &info) != 0 {
          String(cString: strerror(errno))
        } else if info.st_mode & S_IFMT != S_IFREG {
          "it is not a file"
        } else if info.st_size == 0, !mayBeEmpty {
          "it is empty"
        } else { nil }
      if let flaw { fail(subject, "\(key) \(file): \(flaw)", why, "create it, and let the host's user read it") }
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
      readable(file, "traces", "headers_file", "spans are sent without these headers, or not", mayBeEmpty: true)
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
