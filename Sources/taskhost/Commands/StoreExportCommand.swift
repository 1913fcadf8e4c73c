import ArgumentParser
import Glibc
import HostThreads
import StrictText
import TaskModel
import TaskStore

struct StoreExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write every record of the store as lines of JSON, also while the host runs.",
    discussion: """
      The first line names the format and its version, the last one the number of
      lines. All ids stay. Values that the configuration redacts are in it as they
      are, and so are those of a sealed store: an export is plain. A file gets mode
      0600, and is replaced only when the export is complete.

      EXAMPLES
        taskhost store export > store.jsonl
        taskhost store export store.jsonl
      """)

  @Argument(help: ArgumentHelp("The file. (default: standard output)", valueName: "file"))
  var file: String?
  @OptionGroup var store: StoreOptions
  @OptionGroup var keys: StoreKeyOptions

  func run() throws {
    guard !store.json || file != nil else { throw ValidationError("--json prints a summary: name a file for the export too.") }
    let sealing = try store.sealing(keys)
    let exported = try store.read { (place, step) throws(StoreCareError) in
      guard let file else {
        // Lines of progress between the lines of the export would be of no use.
        let isQuiet = isatty(STDOUT_FILENO) == 1
        return try StoreExport.run(
          place, sealing, program: Version.text, to: { (bytes) throws(StoreCareError) in try Self.write(bytes) },
          { if !isQuiet { step($0) } })
      }
      return try StoreExport.run(place, sealing, program: Version.text, toFile: file, step)
    }
    if let file { Self.tell(exported, file: file, json: store.json) }
  }

  /// Says what was written.
  static func tell(_ exported: StoreExport.Result, file: String, json: Bool) {
    guard json else {
      let records = StoreText.records(exported.requests, exported.runs)
      return Terminal.print("\(file.escapingControlCharacters): \(records), \(exported.lines) lines")
    }
    Terminal.printObject { writer in
      writer.member("file", file)
      writer.member("requests", exported.requests)
      writer.member("runs", exported.runs)
      writer.member("lines", exported.lines)
    }
  }

  /// Writes to standard output.
  static func write(_ bytes: [UInt8]) throws(StoreCareError) {
    do { try WholeTransfer.write(bytes, to: STDOUT_FILENO) } catch {
      throw StoreCareError("standard output", "cannot be written: \(error)", remedy: "name a file, or a reader that reads to the end")
    }
  }
}
