import ArgumentParser
import StrictText
import TaskHost
import TaskModel

struct ConfigReferenceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reference",
    abstract: "Show every key of the configuration: its type, its default, and what it means.",
    discussion: """
      A * stands for a name that you choose. Keys are those of this version.

      EXAMPLES
        taskhost config reference
        taskhost config reference control.listen
        taskhost config reference 'plugin.*.limits' --json
      """)

  @Argument(help: "Only this key, or the keys of this table.")
  var key: String?
  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let keys = try wanted()
    guard !json else {
      return Terminal.printObject { writer in
        writer.array("keys", keys) { writer, key in
          writer.member("key", key.key)
          writer.member("type", key.type)
          writer.member("default", key.standard)
          writer.member("about", key.about)
        }
      }
    }
    for line in Self.lines(of: keys) { Terminal.print(line) }
  }

  private func wanted() throws -> [ConfigurationKey] {
    let all = HostConfiguration.reference
    guard let key else { return all }
    let chosen = all.filter { $0.key == key || $0.key.hasPrefix(key + ".") }
    guard chosen.isEmpty else { return chosen }
    let shown = String(key.prefix(100)).escapingControlCharacters
    let nearest = NearestName.nearest(to: key, among: all.map(\.key)).map { "did you mean \"\($0)\"? " } ?? ""
    throw ValidationError("There is no key \"\(shown)\": \(nearest)taskhost config reference shows all.")
  }

  /// Two lines for each key: its type and default, and what it means.
  static func lines(of keys: [ConfigurationKey]) -> [String] {
    keys.flatMap { key in
      let isList = key.type == "tables"
      guard !key.isTable else { return ["", "\(key.key)  \(isList ? "(tables)" : "(table)")", "    \(key.about)"] }
      return ["\(key.key) = \(key.standard ?? "(none)")", "    \(key.about)", "    \(key.type)"]
    }
  }
}
