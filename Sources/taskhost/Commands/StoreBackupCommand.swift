import ArgumentParser
import StrictText
import TaskModel
import TaskStore

struct StoreBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the store into one file, also while the host runs.",
    discussion: """
      The copy is the store at one moment. It is written beside the file, synced,
      opened and checked, and then takes the file's place: a full disk or a kill
      leaves the old file. It has mode 0600, for it holds payloads and the plugins'
      state. Everything else in the state directory, such as tokens and the plugins'
      own files, is not in it.

      EXAMPLES
        taskhost store backup backup.sqlite
      """)

  @Argument(help: ArgumentHelp("The file: a new one, or an earlier backup. Outside of the state directory.", valueName: "file"))
  var file: String
  @OptionGroup var store: StoreOptions

  func run() throws {
    let made = try store.read { (place, step) throws(StoreCareError) in try StoreBackup.make(of: place, at: file, step) }
    guard store.json else {
      return Terminal.print(
        "\(file.escapingControlCharacters): \(StoreText.records(made.requests, made.runs)), \(ByteCountFormat.words(made.bytes))")
    }
    Terminal.printObject { writer in
      writer.member("file", file)
      writer.member("size_bytes", made.bytes)
      writer.member("requests", made.requests)
      writer.member("runs", made.runs)
    }
  }
}
