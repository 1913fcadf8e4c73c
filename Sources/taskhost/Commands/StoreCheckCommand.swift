import ArgumentParser
import StrictText
import TaskModel
import TaskStore

struct StoreCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Read the whole store, and say what is wrong with it and what to do. Changes nothing.",
    discussion: """
      Checks the database's structure and every record, compares counts, tags and
      lanes with the requests, and, while no host runs, each page with its checksum.
      Opens every sealed value, and says whether plaintext may be left. Works beside
      a running host. Exits 1 if something is wrong.

      EXAMPLES
        taskhost store check
        taskhost store check --json
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var keys: StoreKeyOptions

  func run() throws {
    var path = ""
    let sealing = try store.sealing(keys)
    let found = try store.read { (place, step) throws(StoreCareError) in
      path = place.database
      return try StoreInspection.of(place, sealing, step)
    }
    if store.json {
      Terminal.printObject { writer in
        writer.member("store", path)
        writer.member("whole", found.findings.isEmpty)
        writer.member("schema", found.schema)
        writer.member("taskhost", found.program)
        writer.member("size_bytes", found.bytes)
        writer.member("requests", found.requests)
        writer.member("runs", found.runs)
        if let sealed = found.sealed { writer.sealed("sealed", sealed) }
        writer.member("notes", found.notes)
        writer.findings("problems", found.findings)
      }
    } else {
      Terminal.notes(found.notes)
      StoreText.tell(found.findings)
      let records = found.requests.flatMap { requests in found.runs.map { ", \(StoreText.records(requests, $0))" } } ?? ""
      if found.findings.isEmpty {
        Terminal.print("the store is whole: \(ByteCountFormat.words(found.bytes))\(records)")
        if let sealed = found.sealed { Terminal.print(StoreText.sentence(about: sealed)) }
      } else {
        let count = found.findings.count
        Terminal.note("taskhost: \(path.escapingControlCharacters): \(count == 1 ? "1 problem" : "\(count) problems")")
      }
    }
    if !found.findings.isEmpty { throw ExitCode(ExitStatus.failed.rawValue) }
  }
}
