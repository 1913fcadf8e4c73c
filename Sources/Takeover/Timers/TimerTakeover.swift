/// What becomes of the timers of systemd.
public enum TimerTakeover {
  /// What differs for every timer.
  public static let differences = [
    "output: the host keeps what a command prints (`taskhost runs logs ID`), and its own log has it too; the journal has no unit for it",
    "environment: the host adds HOME, USER, LOGNAME, SHELL and TASKHOST_ variables",
    "accuracy: systemd may be late by AccuracySec (1 min); the host starts a run when it is due",
    "end of a run: the host ends a run after its budget, and what a command leaves in the background, as systemd does",
    "control group: systemd gives each run one of its own; the host starts a process group in its own control group",
  ]

  /// A finding for every line of every enabled timer and of its service, and one for every other timer.
  public static func findings(of machine: TimerMachine) -> [LineFinding] {
    var book = IdentifierBook()
    var findings: [LineFinding] = []
    for timer in machine.timers.sorted(by: { $0.name < $1.name }) {
      func whole(_ why: String) -> LineFinding { LineFinding(file: timer.path, line: 0, text: timer.name, .nothing(why)) }
      if timer.isMasked {
        findings.append(whole("it is masked"))
      } else if !machine.enabled.contains(timer.name) {
        findings.append(whole("it is not enabled: nothing starts it at boot"))
      } else {
        var reading = TimerReading(timer, machine: machine)
        findings += reading.all(&book)
      }
    }
    findings = findings.map { $0.refused(byHostOf: machine.hostUser) }
    return findings + machine.unreadable.map { LineFinding(file: $0.path, line: 0, text: "", .refused($0.why)) }
  }
}
