import ArgumentParser
import Glibc
import StrictText
import TaskModel
import TaskStore

struct StoreImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Add the records of an export to the store, all or none. Refused while a host runs.",
    discussion: """
      Ids stay. A store without records becomes the exported one. One with records
      takes only exports of itself, and keeps its own version of what it has already.
      A wrong line, which the error names, changes nothing. The replaced store stays
      beside the new one, with the time in its name.

      EXAMPLES
        taskhost store import store.jsonl --state copied --dry-run
        taskhost store export | taskhost store import --state copied
      """)

  @Argument(help: ArgumentHelp("The export. (default: standard input)", valueName: "file"))
  var file: String?
  @Flag(help: "Read and check everything, and change nothing.")
  var dryRun = false
  @OptionGroup var store: StoreOptions
  @OptionGroup var keys: StoreKeyOptions

  func run() throws {
    let descriptor = try store.answering { try file.map { try Self.open($0) } ?? STDIN_FILENO }
    if file == nil, isatty(STDIN_FILENO) == 1 { Terminal.note("reading an export from standard input; end it with Ctrl-D") }
    let name = file ?? "standard input"
    let sealing = try store.sealing(keys)
    let added = try store.replace { (place, step) throws(StoreCareError) in
      try StoreImport.run(from: descriptor, named: name, into: place, sealing, isTrial: dryRun, program: Version.text, step)
    }
    guard store.json else {
      StoreText.tell(added.findings)
      let skipped = added.skipped > 0 ? "; \(added.skipped) were there already" : ""
      let would = dryRun ? "would import" : "imported"
      Terminal.print("\(would) \(StoreText.records(added.requests, added.runs)), \(added.others) other records\(skipped)")
      if let old = added.replaced { StoreText.tell(replaced: old) }
      return
    }
    Terminal.printObject { writer in
      writer.member("dry_run", dryRun)
      writer.member("requests", added.requests)
      writer.member("runs", added.runs)
      writer.member("others", added.others)
      writer.member("skipped", added.skipped)
      writer.member("replaced", added.replaced)
      writer.findings("problems", added.findings)
    }
  }

  static func open(_ file: String) throws -> Int32 {
    let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(.failed, file.escapingControlCharacters, "cannot be opened: \(String(cString: strerror(errno)))")
    }
    return descriptor
  }
}
