import ArgumentParser
import Takeover

struct TakeoverCronCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cron",
    abstract: "Show what each line of the crontabs becomes; switch, and back.",
    discussion: """
      Reads /etc/crontab, /etc/cron.d, the crontabs of users, /etc/anacrontab and
      the folders of run-parts, as Debian's cron does. Without --apply and --undo,
      it writes nothing. A line marked ! is not carried over; one marked * says
      what is different. Exits 1 if a line is not carried over, or if --observe
      finds a difference.

      --observe compares the times of the host with what cron has logged. --apply
      writes takeover-cron.toml and comments out the lines that it stands for;
      --undo puts back every file, unless somebody has changed one since.

      EXAMPLES
        taskhost takeover cron --root ~/machine
        taskhost takeover cron --file crontab.txt --user alice
        taskhost takeover cron --root ~/machine --observe --log cron.log
        taskhost takeover cron --root ~/machine --apply --into ~/machine/taskhost
        taskhost takeover cron --root ~/machine --undo --into ~/machine/taskhost
      """)

  @Option(help: ArgumentHelp("Only this crontab, as crontab -l prints it.", valueName: "file"))
  var file: String?
  @Option(help: ArgumentHelp("Of --file: whose crontab it is. Without it, its commands run as the host's user.", valueName: "name"))
  var user: String?
  @Flag(help: "Of --file: its lines name a user before the command, as those of /etc/crontab.")
  var system = false
  @Flag(help: "Read as cronie does, the cron of Fedora and Arch: CRON_TZ counts, and only a bad line itself is skipped.")
  var cronie = false
  @OptionGroup var observation: ObserveOptions
  @OptionGroup var options: TakeoverOptions

  func validate() throws {
    if file == nil, user != nil || system { throw ValidationError("--user and --system belong to --file.") }
    if user != nil, system { throw ValidationError("--user and --system exclude each other: each line names its user.") }
    if observation.observe, options.apply || options.undo || options.toml { throw ValidationError("--observe only compares.") }
    if options.undo, file != nil { throw ValidationError("--undo puts back what was changed: leave --file out.") }
  }

  func run() async throws {
    let root = try RootFolder(options.root)
    if options.undo { return try options.takeBack("cron", root: root) }
    let places = CronPlaces(root: root)
    var machine =
      try file.map { file throws(CommandFailure) in
        try places.machine(file: file, kind: system ? .system : .user(user))
      } ?? places.machine()
    machine.isCronie = cronie
    machine.hostUser = try options.hostUser()
    let report = TakeoverReport(source: "cron", findings: CronTakeover.findings(of: machine), differences: CronTakeover.differences)
    if observation.observe { return try observation.run(report, root: root, json: options.json) }
    guard options.apply else { return try options.show(report) }
    // A file that was named alone is read, and not changed.
    let seen = file == nil ? Dictionary(machine.files.map { ($0.path, $0.bytes) }) { first, _ in first } : [:]
    let next = file.map { ["remove the lines from the crontab that \($0) was made of"] } ?? []
    try options.carryOut(report, root: root, seen: seen, next: next)
  }
}
