import ArgumentParser
import StrictText
import TaskHost
import TaskModel

struct FleetDoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check everything in the fleet's database that would make tonight's runs fail, each with its remedy.",
    discussion: """
      Looks at the server and its settings, what keeps it from cleaning up (long
      transactions, replication slots, dead rows), its standbys, this machine's clock
      against its own, and at the fleet's tables, hosts and requests. Changes
      nothing. A user who may see others' transactions sees most: GRANT pg_monitor.

      EXAMPLES
        taskhost fleet doctor
        taskhost fleet doctor --quiet --long 10m
        taskhost fleet doctor --json

      EXIT CODES
        0 nothing is wrong, or there are only warnings; 1 something will fail
      """)

  @OptionGroup var fleet: FleetOptions
  @Flag(help: "Only what is wrong.")
  var quiet = false
  @Option(help: ArgumentHelp("From which age a transaction counts as long.", valueName: "duration"))
  var long = "1m"
  @Option(help: ArgumentHelp("How long requests may be ready before they are told of.", valueName: "duration"))
  var patience = "10m"

  func validate() throws {
    _ = try TimeArgument.duration(long, "--long")
    _ = try TimeArgument.duration(patience, "--patience")
  }

  func run() throws {
    let address = try CommandFailure.answering(inJSON: fleet.json) { try fleet.address() }
    let findings = FleetReview.findings(
      address, long: .milliseconds(try TimeArgument.duration(long, "--long")),
      patience: .milliseconds(try TimeArgument.duration(patience, "--patience")))
    try FindingText.report(findings, quiet: quiet, json: fleet.json)
  }
}
