import ArgumentParser
import PluginCheck
import PluginTrust
import StrictText
import TaskHost
import TaskModel

struct PluginsCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check that a plugin follows the rules of taskhost.h. For plugin authors; needs no host.",
    discussion: """
      Each case runs in its own process, with the real runtime and a test host that
      expires runs, refuses calls, drains and jumps in time. The plugin's code runs
      with your rights, without a sandbox except in the case `worker`: check only
      code that you trust. A handler may reject a payload that it does not know; only
      crashes, hangs and broken rules fail a case.

      EXAMPLES
        taskhost plugins check ./hello-c.so
        taskhost plugins check libSync.so --payload '{"id": 7}' --settings sync.json
        taskhost plugins check libSync.so --case expire-in-run --seed 42
        taskhost plugins check crc32.task.toml --payload '{"data": "MTIz"}'
        taskhost plugins check --list

      EXIT CODES
        0 all cases passed, 1 a case failed or the file was refused,
        2 the command line was not understood
      """)

  @Argument(help: "The plugin's file, or a manifest NAME.task.toml that adopts a library.")
  var file: String?
  @Option(help: ArgumentHelp("A payload that the handler accepts.", valueName: "json or @file"))
  var payload: String?
  @Option(help: ArgumentHelp("A file with the plugin's settings, a JSON object.", valueName: "file.json"))
  var settings: String?
  @Option(name: .customLong("case"), help: ArgumentHelp("Run only this case; may be repeated.", valueName: "name"))
  var cases: [String] = []
  @Option(help: ArgumentHelp("The seed of an earlier check, to repeat its random choices.", valueName: "number"))
  var seed: UInt64?
  @Option(help: ArgumentHelp("The time limit for one case.", valueName: "duration"))
  var timeout = "60s"
  @Option(help: ArgumentHelp("The budget of the run with the valid payload.", valueName: "duration"))
  var budget = "5s"
  @Option(help: ArgumentHelp("The grace for a handler to return after its expiration. (default: its kind's)", valueName: "duration"))
  var grace: String?
  @Option(help: ArgumentHelp("How many cases run at once; most of their time is waiting.", valueName: "number"))
  var jobs = 8
  @Flag(help: "List the cases.")
  var list = false
  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    guard list || file != nil else { throw ValidationError("Name the plugin's file.") }
    for name in cases where CheckCase(rawValue: name) == nil {
      let nearest = NearestName.nearest(to: name, among: CheckCase.allCases.map(\.rawValue)).map { "did you mean \"\($0)\"? " } ?? ""
      throw ValidationError("There is no case named \"\(name)\": \(nearest)See --list.")
    }
    for (option, text) in [("--timeout", timeout), ("--budget", budget), ("--grace", grace)] {
      guard let text else { continue }
      guard let milliseconds = DurationArgument.parse(text), 0 < milliseconds, milliseconds <= 86_400_000 else {
        throw ValidationError("\(option) is not a duration of at most a day: write 500ms, 30s or 2m.")
      }
    }
    if !(1...64).contains(jobs) { throw ValidationError("--jobs must be 1 to 64.") }
  }

  func run() throws {
    guard let file, !list else { return PluginsCheckText.printList(json: json) }
    let options = try options()
    let report: CheckReport
    let printer = PluginsCheckText(file: file, usesColours: Terminal.usesColours)
    do {
      let inspected = try Self.subject(file)
      if !json { printer.printHead(of: options) }
      let checker = PluginChecker(inspected, options: options, worker: Self.launchInWorker) { [json] result in
        if !json { printer.print(result) }
      }
      report = try checker.run()
    } catch let refusal as PluginRefusal {
      report = PluginChecker.refused(refusal, options: options)
      if !json { report.results.prefix(1).forEach { printer.print($0) } }
    } catch let failure as CheckFailure {
      throw CommandFailure(.failed, file, "it could not be checked", remedy: failure.observed)
    }
    if json { PluginsCheckText.printJSON(of: report) } else { printer.printSummary(of: report) }
    if !report.hasPassed { throw ExitCode(ExitStatus.failed.rawValue) }
  }

  private static func launchInWorker(_ trial: WorkerTrial) throws(CheckFailure) -> Result<[HandlerRegistration], LaunchFailure> {
    do throws(HostFailure) {
      return try PluginTrial(settings: trial.settings, directory: trial.directory).launch(
        trial.file, path: trial.path, identifier: trial.identifier, adoption: trial.adoption, handlerLimit: trial.handlerLimit)
    } catch { throw CheckFailure(error.message) }
  }

  private static func subject(_ file: String) throws(PluginRefusal) -> CheckSubject {
    guard file.hasSuffix(".task.toml") else { return CheckSubject(try PluginInspector.inspect(file)) }
    let manifest = try PluginInspector.inspectManifest(file)
    return CheckSubject(manifest: manifest.path, adoption: manifest.adoption, library: manifest.library)
  }

  private func options() throws -> CheckOptions {
    var generator = SystemRandomNumberGenerator()
    var options = CheckOptions(seed: seed ?? UInt64.random(in: 1...999_999_999, using: &generator))
    if let settings { options.settings = try PluginsCheckInput.settings(settings) }
    if let payload { options.payload = try PluginsCheckInput.payload(payload) }
    options.cases = Set(cases.compactMap(CheckCase.init(rawValue:)))
    options.timeout = .milliseconds(DurationArgument.parse(timeout) ?? 60_000)
    options.budget = .milliseconds(DurationArgument.parse(budget) ?? 5000)
    options.grace = grace.flatMap(DurationArgument.parse).map { .milliseconds($0) }
    options.parallel = jobs
    return options
  }
}
