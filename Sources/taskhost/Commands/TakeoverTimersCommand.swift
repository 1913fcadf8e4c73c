import ArgumentParser
import Takeover

struct TakeoverTimersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "timers",
    abstract: "Show what each enabled timer of systemd becomes; switch, and back.",
    discussion: """
      Reads the units in the folders of systemd, with their drop-ins. Without
      --apply and --undo, it writes nothing. A line marked ! is not carried over;
      one marked * says what is different. Exits 1 if a line is not carried over, or
      if --observe finds a difference.

      --observe compares the times of the host with what systemd has logged.
      --apply writes takeover-timers.toml, removes the links that start these timers
      at boot, and stops those that are active. --undo puts back every link, unless
      somebody has changed one since, and starts what was active. With --root, links
      alone are changed.

      EXAMPLES
        taskhost takeover timers --root ~/machine
        taskhost takeover timers --root ~/machine --observe --log systemd.log
        taskhost takeover timers --root ~/machine --apply --into ~/machine/taskhost
        taskhost takeover timers --root ~/machine --undo --into ~/machine/taskhost
      """)

  @OptionGroup var observation: ObserveOptions
  @OptionGroup var options: TakeoverOptions

  func validate() throws {
    if observation.observe, options.apply || options.undo || options.toml { throw ValidationError("--observe only compares.") }
  }

  func run() async throws {
    let root = try RootFolder(options.root)
    if options.undo { return try options.takeBack("timers", root: root) }
    var machine = TimerPlaces(root: root).machine()
    machine.hostUser = try options.hostUser()
    let report = TakeoverReport(source: "timers", findings: TimerTakeover.findings(of: machine), differences: TimerTakeover.differences)
    if observation.observe { return try observation.run(report, root: root, json: options.json) }
    guard options.apply else { return try options.show(report) }
    try options.carryOut(report, root: root, of: machine)
  }
}
