import ArgumentParser
import FleetStore
import Glibc
import StrictText
import TaskHost
import TaskModel
import TaskStore

struct FleetImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Move the requests of an export of a store into the fleet, all or none.",
    discussion: """
      Takes what waits, and the dead letters, of the identifiers that have scope =
      "fleet" in the configuration, or of those that --identifier names: with their
      payloads, checkpoints, keys and graphs, under new ids. What stays in the store
      is counted, with the reasons. The same export again adds nothing twice.

      Stop the host before you export, and set fleet.url before you start it again:
      at its launch, it then ends in its store what was imported. See "Moving in and
      out" in Documentation/fleet.md.

      EXAMPLES
        taskhost store export | taskhost fleet import --dry-run
        taskhost store export store.jsonl && taskhost fleet import store.jsonl
        taskhost fleet import store.jsonl --identifier 'com.example.*'

      EXIT CODES
        0 all requests of the identifiers are in the fleet
        1 some of them stay in the store
        5 the fleet's database cannot be reached
        6 the export is refused, and nothing was imported
      """)

  @OptionGroup var fleet: FleetOptions
  @Flag(help: "Read and check everything, and change nothing. An export from beside a running host will do.")
  var dryRun = false
  @Option(
    help: ArgumentHelp(
      "An identifier, or a beginning followed by *, instead of those of the configuration. May be repeated.", valueName: "pattern"))
  var identifier: [String] = []
  @Argument(help: ArgumentHelp("The export. (default: standard input)", valueName: "file"))
  var file: String?

  func validate() throws { _ = try named() }

  private func named() throws -> [IdentifierPattern] {
    try identifier.map { text in
      do { return try IdentifierPattern(text) } catch {
        throw ValidationError("--identifier \"\(text.escapingControlCharacters)\": \(error)")
      }
    }
  }

  private func identifiers() throws -> [IdentifierPattern] {
    guard identifier.isEmpty else { return try named() }
    let configuration = try fleet.configuration()
    let shared = configuration.fleetIdentifiers.sorted().map(IdentifierPattern.init(_:))
    guard !shared.isEmpty else {
      throw CommandFailure(
        .configuration, configuration.file ?? "the configuration", "no identifier has scope = \"fleet\" with a fleet.url",
        remedy: "set them, or name identifiers with --identifier")
    }
    return shared
  }

  func run() throws { try fleet.answering { try work() } }

  private func work() throws {
    let (address, identifiers) = (try fleet.address(), try identifiers())
    let descriptor = try file.map { try StoreImportCommand.open($0) } ?? STDIN_FILENO
    if file == nil, isatty(STDIN_FILENO) == 1 { Terminal.note("reading an export from standard input; end it with Ctrl-D") }
    let report: FleetImporting.Report
    do throws(FleetImporting.Failure) {
      report = try StoreSteps.showing { (step) throws(FleetImporting.Failure) in
        try FleetImporting.run(
          from: descriptor, named: file ?? "standard input", of: identifiers, into: address, isTrial: dryRun, step)
      }
    } catch {
      switch error {
      case .archive(let error): throw StoreSteps.failure(error)
      case .fleet(let error): throw FleetOptions.failure(error, at: address)
      case .open:
        throw CommandFailure(
          .refused, file?.escapingControlCharacters ?? "standard input",
          "a host had the store open when it was exported, or was killed before",
          remedy: "stop the host, after a start if it was killed, and export again: both would run what is in both")
      }
    }
    if fleet.json { write(report) } else { tell(report) }
    if report.left.contains(where: { $0.why != .otherIdentifier }) { throw ExitCode(ExitStatus.failed.rawValue) }
  }

  private func tell(_ report: FleetImporting.Report) {
    var parts = [StoreText.count(report.requests, "request"), StoreText.count(report.deadLetters, "dead letter")]
    if report.keys > 0 { parts.append(StoreText.count(report.keys, "idempotency key")) }
    if report.windows > 0 { parts.append(StoreText.count(report.windows, "held unique key")) }
    if report.ended > 0 { parts.append("\(StoreText.count(report.ended, "ended request")) for their keys") }
    let there = report.alreadyThere > 0 ? "; \(report.alreadyThere) were imported before" : ""
    Terminal.print("\(dryRun ? "would import" : "imported") \(parts.joined(separator: ", "))\(there)")
    for left in report.left {
      let first = left.why == .otherIdentifier ? "" : " (the first is \(left.first))"
      Terminal.print("left out: \(StoreText.count(left.count, "request")) of \(left.identifier): \(left.why.sentence)\(first)")
    }
    if report.endedLeft > 0 { Terminal.print("left out: \(StoreText.count(report.endedLeft, "ended request"))") }
    if report.keysLeft > 0 {
      let keys = StoreText.count(report.keysLeft, "idempotency key")
      Terminal.note("! the fleet has \(keys) already: what they stand for there counts")
    }
    if report.isOpen { Terminal.note("a host had the store open: stop it, and export again for the import itself") }
  }

  private func write(_ report: FleetImporting.Report) {
    Terminal.printObject { writer in
      writer.member("dry_run", dryRun)
      writer.member("requests", report.requests)
      writer.member("dead_letters", report.deadLetters)
      writer.member("ended", report.ended)
      writer.member("idempotency_keys", report.keys)
      writer.member("idempotency_keys_left", report.keysLeft)
      writer.member("unique_windows", report.windows)
      writer.member("imported_before", report.alreadyThere)
      writer.member("ended_left", report.endedLeft)
      writer.member("open", report.isOpen)
      writer.array("left", report.left) { writer, left in
        writer.member("identifier", left.identifier.rawValue)
        writer.member("reason", left.why.code)
        writer.member("message", left.why.sentence)
        writer.member("count", left.count)
        writer.member("first", left.first.description)
      }
    }
  }
}
