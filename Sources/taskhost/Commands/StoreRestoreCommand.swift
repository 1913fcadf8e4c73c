import ArgumentParser
import StrictText
import TaskModel
import TaskStore

struct StoreRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Put a backup in the store's place. Refused while a host runs.",
    discussion: """
      The backup is copied and checked first; a damaged one, one of a newer taskhost,
      or a sealed one whose key is missing changes nothing. The replaced store stays
      beside the new one, with the time in its name, until you delete it. Runs that
      were live in the backup begin again.

      EXAMPLES
        taskhost store restore backup.sqlite --state restored
      """)

  @Argument(help: ArgumentHelp("The backup.", valueName: "file"))
  var file: String
  @OptionGroup var store: StoreOptions
  @OptionGroup var keys: StoreKeyOptions

  func run() throws {
    let sealing = try store.sealing(keys)
    let restored = try store.replace { (place, step) throws(StoreCareError) in
      try StoreRestore.restore(file, to: place, sealing, step)
    }
    let found = restored.inspection
    guard store.json else {
      Terminal.notes(found.notes)
      StoreText.tell(found.findings)
      let records = found.requests.flatMap { requests in found.runs.map { ": \(StoreText.records(requests, $0))" } } ?? ""
      Terminal.print("restored \(file.escapingControlCharacters)\(records)")
      if let old = restored.replaced { StoreText.tell(replaced: old) }
      return
    }
    Terminal.printObject { writer in
      writer.member("file", file)
      writer.member("schema", found.schema)
      writer.member("requests", found.requests)
      writer.member("runs", found.runs)
      writer.member("replaced", restored.replaced)
      writer.member("notes", found.notes)
      writer.findings("problems", found.findings)
    }
  }
}
