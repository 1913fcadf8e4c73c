import ArgumentParser

/// The options of a command that changes all requests that match a filter.
struct BulkOptions: ParsableArguments {
  @Option(help: ArgumentHelp("All requests that match this filter; see `tasks list --help`.", valueName: "filter"))
  var filter: String?
  @Flag(help: "With --filter: only count the requests.")
  var dryRun = false
  @Flag(name: [.customShort("y"), .long], help: "With --filter: do not ask.")
  var yes = false

  func validate() throws {
    guard filter != nil || !(dryRun || yes) else { throw ValidationError("--dry-run and --yes go with --filter.") }
  }
}
