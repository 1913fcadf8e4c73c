import ArgumentParser
import StrictText
import TaskModel
import ValueSealing

struct StoreKeyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key",
    abstract: "Make a key for the values of the store, or a new one in front of those in a file.",
    discussion: """
      The first key of a file seals, all of them open: a new key rotates them, and
      taskhost reload puts it in force. The file gets mode 0600, keeps its owner, and
      is replaced in one step. Keep a copy elsewhere: without its keys, nobody can
      read the store. An earlier key may be removed from the file once no value needs
      it, which the host's log and taskhost store check say.

      EXAMPLES
        taskhost store key store.key
        taskhost store key store.key --json
      """)

  @Argument(help: ArgumentHelp("The file: that of encryption.key_file, or a new one.", valueName: "file"))
  var file: String
  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    guard !file.isEmpty, !file.hasSuffix("/") else { throw ValidationError("Give the file a name.") }
  }

  func run() throws {
    let added: KeyFile.Addition
    do throws(KeyFileError) { added = try KeyFile.addKey(to: file) } catch {
      throw CommandFailure(.failed, error.path.escapingControlCharacters, error.observed.escapingControlCharacters, remedy: error.remedy)
    }
    guard !json else {
      return Terminal.printObject { writer in
        writer.member("file", file)
        writer.member("id", added.id.description)
        writer.member("earlier", added.earlier.map(\.description))
      }
    }
    let name = file.escapingControlCharacters
    guard !added.earlier.isEmpty else {
      Terminal.print("\(name): the key \(added.id). Keep a copy elsewhere: without it, nobody can read what it has sealed")
      return Terminal.print("next: [encryption] key_file in the configuration, then taskhost reload")
    }
    Terminal.print(
      "\(name): the key \(added.id) seals from the next reload on; \(added.earlier.map(\.description).joined(separator: ", ")) still open")
    Terminal.print("next: taskhost reload. Remove an earlier key only when no value needs it: taskhost store check")
  }
}
