/// What becomes of everything that cron and anacron run.
public enum CronTakeover {
  /// What differs for every line, whatever it says.
  public static let differences = [
    "output: cron mails what a command prints; the host keeps it (`taskhost runs logs ID`) and tells of failures ([[notify]])",
    "missed times: cron leaves out what was due while the machine was off; the host runs it once when it is back",
    "overlap: cron starts a command although its last run goes on; the host leaves that time out (max_concurrent_runs raises the limit)",
    "end of a run: cron ends nothing; the host ends a run after its budget (30 d here), and what a command leaves in the background",
    "environment: both give HOME, LOGNAME, SHELL and PATH; the host adds USER and TASKHOST_ variables, and passes on LANG, LC_ALL and TZ",
    "umask: cron's is 022, or what PAM sets (pam_umask); the command has the host's",
    "PAM: cron opens a session with limits of pam_limits; the host sets user and groups alone",
  ]

  /// A finding for every line of every file, every file of a folder of `run-parts`, and every place that cannot be read.
  public static func findings(of machine: CronMachine) -> [LineFinding] {
    var book = IdentifierBook()
    let daylight = DaylightNote(machine.zone, after: machine.now)
    var findings: [LineFinding] = []
    for file in machine.files {
      if file.kind == .anacron {
        findings += AnacrontabReading(file: file, machine: machine).findings(&book)
      } else {
        findings += CrontabReading(file: file, machine: machine, daylight: daylight).findings(&book)
      }
    }
    findings = findings.map { $0.refused(byHostOf: machine.hostUser) }
    findings += machine.folders.flatMap { scripts(of: $0, among: findings) }
    findings += machine.unreadable.map { LineFinding(file: $0.path, line: 0, text: "", .refused($0.why)) }
    return findings
  }

  /// Each file of a folder, and who runs it.
  private static func scripts(of folder: CronFolder, among findings: [LineFinding]) -> [LineFinding] {
    let runner = findings.first { finding in
      finding.command.map { command in CommandHints.runParts(command.shell ?? command.run.last ?? "") == folder.path } ?? false
    }
    return folder.scripts.map { script in
      let result: LineFinding.Result
      if let flaw = script.flaw {
        result = .nothing("run-parts leaves it alone: \(flaw)")
      } else if let runner, let command = runner.command {
        result = .covered("\(command.identifier) runs it (\(runner.place))")
      } else {
        result = .nothing("no line that is carried over runs the folder \(folder.path)")
      }
      return LineFinding(file: "\(folder.path)/\(script.name)", line: 0, text: "", result)
    }
  }
}
