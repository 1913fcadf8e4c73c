import ArgumentParser
import StrictText
import TaskModel
import TaskStore

struct StoreVacuumCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vacuum",
    abstract: "Write the store anew without unused space. Refused while a host runs.",
    discussion: """
      Also builds counts, tags and lanes again from the requests where store check
      finds them wrong. Needs as much free space as the new database takes. The old
      one stays until the new one is complete and checked. With [encryption], all
      values of the new one are sealed, and no unused space can have a plain one.

      EXAMPLES
        taskhost store vacuum --state copied
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var keys: StoreKeyOptions

  func run() throws {
    let sealing = try store.sealing(keys)
    let done = try store.replace(needsStore: true) { (place, step) throws(StoreCareError) in
      try StoreVacuum.run(place, sealing, step)
    }
    guard store.json else {
      for finding in done.mended {
        let how = finding.kind == .plaintext ? "written anew" : "built again"
        Terminal.note("\(how): \(finding.observed.escapingControlCharacters)")
      }
      StoreText.tell(done.left)
      return Terminal.print("\(ByteCountFormat.words(done.before)) before, \(ByteCountFormat.words(done.after)) now")
    }
    Terminal.printObject { writer in
      writer.member("bytes_before", done.before)
      writer.member("bytes_after", done.after)
      writer.findings("mended", done.mended)
      writer.findings("problems", done.left)
    }
  }
}
