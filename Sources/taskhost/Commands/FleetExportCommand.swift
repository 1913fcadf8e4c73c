import ArgumentParser
import FleetStore
import Glibc
import StrictText
import TaskHost
import TaskModel
import TaskStore

struct FleetExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write what lives in the fleet as an export of a store, for a host alone or another fleet.",
    discussion: """
      Everything that waits, and the dead letters, with their payloads, checkpoints,
      keys, graphs and pauses, and what idempotency keys stand for. Runs and what
      else has ended stay in the database. First stop all hosts, and the applications
      that call taskhost.submit: what they did meanwhile would be missing. A file
      gets mode 0600, and is replaced only when the export is complete. See "Moving
      in and out" in Documentation/fleet.md.

      EXAMPLES
        taskhost fleet export fleet.jsonl
        taskhost fleet export | taskhost store import --state /var/lib/taskhost
        taskhost fleet export | taskhost fleet import --url postgres://db2/tasks --identifier '*'

      EXIT CODES
        0 everything was written
        5 the fleet's database cannot be reached
        6 hosts are there, or have left something to do, or something was submitted
          meanwhile: no file was written
      """)

  @OptionGroup var fleet: FleetOptions
  @Argument(help: ArgumentHelp("The file. (default: standard output)", valueName: "file"))
  var file: String?

  func validate() throws {
    guard !fleet.json || file != nil else { throw ValidationError("--json prints a summary: name a file for the export too.") }
  }

  func run() throws { try fleet.answering { try work() } }

  private func work() throws {
    let address = try fleet.address()
    // Lines of progress between the lines of the export would be of no use.
    let isQuiet = file == nil && isatty(STDOUT_FILENO) == 1
    let exported: StoreExport.Result
    do throws(FleetExporting.Failure) {
      exported = try StoreSteps.showing { (step) throws(FleetExporting.Failure) in
        try FleetExporting.run(
          address, program: Version.text, toFile: file, or: { (bytes) throws(StoreCareError) in try StoreExportCommand.write(bytes) },
          { if !isQuiet { step($0) } })
      }
    } catch {
      switch error {
      case .archive(let error): throw StoreSteps.failure(error)
      case .fleet(let error): throw FleetOptions.failure(error, at: address)
      case .unrest(let unrest): throw Self.failure(unrest)
      }
    }
    if let file { StoreExportCommand.tell(exported, file: file, json: fleet.json) }
  }

  private static func failure(_ unrest: FleetUnrest) -> CommandFailure {
    guard unrest.hosts.isEmpty else {
      let names = unrest.hosts.prefix(5).joined(separator: ", ") + (unrest.hosts.count > 5 ? " and others" : "")
      return CommandFailure(
        .refused, "the fleet", "hosts are there: \(names.escapingControlCharacters)",
        remedy: "stop them: they would run what is exported, and what they did meanwhile would be missing")
    }
    guard unrest.added == 0 else {
      return CommandFailure(
        .refused, "the fleet", "\(StoreText.count(Int(clamping: unrest.added), "request")) came while it was exported",
        remedy: "stop the applications that submit with taskhost.submit: what they add would be missing; then export again")
    }
    return CommandFailure(
      .refused, "the fleet", "\(StoreText.count(Int(clamping: unrest.requests), "request")) wait for a host to act on what came last",
      remedy: "start a host, and stop it once taskhost fleet status shows nothing held")
  }
}
