import StrictText
import TaskHost
import TaskModel

/// Changes of a configuration, for people and for programs.
enum ConfigurationChangeText {
  static func print(_ changes: [ConfigurationChange]) {
    let certain = changes.filter { !$0.isUncertain }
    var table = TextTable("ABOUT", .name("KEY"), "LOADED", "IN THE FILE")
    for subject in ConfigurationChange.Subject.allCases {
      for change in certain where change.subject == subject {
        table.add(subject.rawValue, change.key, change.before ?? "(none)", change.after ?? "(none)")
      }
    }
    if !certain.isEmpty { table.print(empty: "") }
    let hidden = changes.filter(\.isUncertain).map(\.key)
    if !hidden.isEmpty {
      Terminal.print("not compared, because the host does not tell them: \(hidden.joined(separator: ", "))".escapingControlCharacters)
    }
    Terminal.print(
      certain.isEmpty ? "the host has loaded what the file says" : "these changes take effect when the host is started again")
  }
}

extension JSONWriter {
  /// The members of a change.
  mutating func change(_ change: ConfigurationChange) {
    member("key", change.key)
    member("about", change.subject.rawValue)
    member("loaded", change.before)
    member("file", change.after)
    member("compared", !change.isUncertain)
  }
}
