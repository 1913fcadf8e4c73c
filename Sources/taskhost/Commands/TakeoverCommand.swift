import ArgumentParser
import StrictText
import TaskHost
import Takeover

struct TakeoverCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "takeover",
    abstract: "Turn crontabs and systemd timers into commands of the configuration. Needs no host.",
    subcommands: [TakeoverCronCommand.self, TakeoverTimersCommand.self])
}

/// Options of a comparison with what has run.
struct ObserveOptions: ParsableArguments {
  @Flag(help: "Compare what the host would have run with what ran.")
  var observe = false
  @Option(help: ArgumentHelp("Of --observe: the log, - for standard input. (default: /var/log/syslog, or the journal)", valueName: "file"))
  var log: String?
  @Option(help: ArgumentHelp("Of --observe: how many hours to look back, 1 to 8784.", valueName: "number"))
  var hours = 24

  func validate() throws {
    if !observe, log != nil { throw ValidationError("--log belongs to --observe.") }
    if !(1...8784).contains(hours) { throw ValidationError("--hours \(hours) is outside of 1 to 8784.") }
  }

  /// Compares the commands with the log, and prints the result. Ends with 1 if they differ.
  func run(_ report: TakeoverReport, root: RootFolder, json: Bool) throws {
    let places = CronLogPlaces(root: root, file: log, isOfTimers: report.source == "timers")
    let zone = CronPlaces(root: root).zone
    let observation = try places.observe(report.commands, now: Int(clamping: MomentText.now / 1000), zone: zone, hours: hours)
    try ObservationText(observation: observation, who: report.source == "timers" ? "systemd" : "cron").show(json: json)
  }
}

/// Options that both takeovers have.
struct TakeoverOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The root of the machine: another folder for a copy or an image.", valueName: "dir"))
  var root = "/"
  @Flag(help: "Write the configuration into the folder of --into, and switch.")
  var apply = false
  @Flag(help: "Put back what --apply has changed.")
  var undo = false
  @Option(help: ArgumentHelp("Of --apply and --undo: the folder of the configuration. Nothing else is written to.", valueName: "dir"))
  var into: String?
  @Option(
    help: ArgumentHelp(
      "The host's configuration, which is not written. Lines of users that its host cannot become are not carried over. With --apply, it is checked together with the result.",
      valueName: "file"))
  var config: String?
  @Flag(help: "Show comments and blank lines too.")
  var all = false
  @Flag(help: "Print only the configuration, as TOML.")
  var toml = false
  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    if json, toml { throw ValidationError("--json and --toml exclude each other.") }
    if apply, undo { throw ValidationError("--apply and --undo exclude each other.") }
    if apply || undo, into == nil { throw ValidationError("Name the folder of the configuration with --into.") }
    if !apply, !undo, into != nil { throw ValidationError("--into belongs to --apply and --undo.") }
    if undo, config != nil { throw ValidationError("--undo needs no configuration: leave --config out.") }
    if toml, apply || undo { throw ValidationError("--toml only shows; leave it out.") }
  }

  /// The user of the host whose configuration was named; nil if it may become every user, or no configuration was named.
  func hostUser() throws -> String? {
    guard let config else { return nil }
    let configuration: HostConfiguration
    do throws(ConfigurationError) { configuration = try ConfigurationChoice.file(config).load() } catch {
      throw CommandFailure(.refused, "--config \(config)", "a host would not load it:\n\(error.description)", remedy: "mend what it says")
    }
    return LaunchReview(configuration).hostUser.map(LaunchReview.name)
  }

  /// Prints the report. Ends with 1 if something is not carried over.
  func show(_ report: TakeoverReport) throws {
    if json {
      Terminal.print(report.json())
    } else if toml {
      if let configuration = report.configuration { Terminal.print(Array(configuration.utf8.dropLast())) }
    } else {
      for line in TakeoverText(report: report, isWhole: all).lines() { Terminal.print(line) }
    }
    if !report.isComplete { throw ExitCode(ExitStatus.failed.rawValue) }
  }

  /// Carries a report about crontabs out: writes the configuration and comments out the lines that have become commands.
  ///
  /// - Parameters:
  ///   - seen: The files that may be changed, as they were read, by path.
  ///   - next: What is left to do by hand, a line each.
  func carryOut(_ report: TakeoverReport, root: RootFolder, seen: [String: [UInt8]], next: [String]) throws {
    let (change, configuration) = try checked(report, root)
    let changes = try change.changes(commentingOut: Self.lines(of: report, in: seen), of: seen)
    try change.apply(configuration, changes)
    try tell(report, change, changes, next: next)
  }

  /// Carries a report about timers out: writes the configuration, and disables and stops the timers that have become commands.
  func carryOut(_ report: TakeoverReport, root: RootFolder, of machine: TimerMachine) throws {
    let (change, configuration) = try checked(report, root)
    let names = report.commands.compactMap(\.timer)
    let (removed, masks) = TimerPlaces.switching(names, of: machine)
    let changes = try change.changes(removing: removed, masking: masks)
    let active = try change.timers?.active(names) ?? []
    try change.apply(configuration, changes, stopping: active)
    try tell(report, change, changes, stopped: active, next: [])
  }

  /// The report's configuration, which a host would load.
  private func checked(_ report: TakeoverReport, _ root: RootFolder) throws -> (change: TakeoverChange, configuration: String) {
    guard let configuration = report.configuration else {
      throw CommandFailure(.failed, "takeover \(report.source)", "there is nothing to carry over")
    }
    let change = try TakeoverChange(report.source, root: root, into: into ?? "")
    try change.check(configuration, appendedTo: config)
    return (change, configuration)
  }

  /// Prints what was changed, and what is left to do.
  private func tell(
    _ report: TakeoverReport, _ change: TakeoverChange, _ changes: [TakeoverRecord.Change], stopped: [String]? = nil, next: [String]
  ) throws {
    let place = change.folder.place(of: change.configurationName)
    if json {
      Terminal.print(
        report.json { writer in
          writer.member("written", [place] + changes.map(\.path))
          if let stopped { writer.member("stopped", stopped) }
        })
    } else {
      for change in changes { Terminal.print("\(change.path): \(change.summary)") }
      for timer in stopped ?? [] { Terminal.print("\(timer): stopped") }
      Terminal.print("\(place): \(report.commands.count) \(report.commands.count == 1 ? "command" : "commands")")
      let steps = ["append it to the configuration, and start the host again: the host runs nothing of it before"] + next
      for step in steps + ["to put everything back: taskhost takeover \(report.source) --undo --into \(into ?? "")"] {
        Terminal.print("- \(step)")
      }
    }
    if !report.isComplete {
      Terminal.note("some lines are not carried over and stay as they are: see taskhost takeover \(report.source)")
      throw ExitCode(ExitStatus.failed.rawValue)
    }
  }

  /// The lines that have become commands, and the lines that continue them.
  private static func lines(of report: TakeoverReport, in seen: [String: [UInt8]]) -> [String: Set<Int>] {
    var lines: [String: Set<Int>] = [:]
    var last: LineFinding?
    for finding in report.findings where seen[finding.file] != nil && finding.line > 0 {
      let continues = finding.result == .covered("it continues line \(last?.line ?? 0)") && last?.file == finding.file
      if finding.command != nil { last = finding }
      if finding.command != nil || continues { lines[finding.file, default: []].insert(finding.line) }
    }
    return lines
  }

  /// Takes a takeover back.
  func takeBack(_ source: String, root: RootFolder) throws {
    let change = try TakeoverChange(source, root: root, into: into ?? "")
    let (restored, started, removed) = try change.undo()
    if json {
      return Terminal.printObject { writer in
        writer.member("restored", restored)
        if source == "timers" { writer.member("started", started) }
        writer.member("configuration_removed", removed)
      }
    }
    for path in restored { Terminal.print("\(path): as it was") }
    for timer in started { Terminal.print("\(timer): started") }
    Terminal.print(
      removed
        ? "\(change.folder.place(of: change.configurationName)): removed; remove its tables from the host's configuration too"
        : "\(change.folder.place(of: change.configurationName)): changed since, so it stays")
  }
}
