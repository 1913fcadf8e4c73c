/// Everything that is wrong with the plugin's settings, each with its place and what to write instead.
struct SettingsProblems: Error, CustomStringConvertible, Equatable {
  /// In the order of discovery; never empty.
  let problems: [String]

  var description: String {
    "the cleanup settings have \(problems.count == 1 ? "a problem" : "\(problems.count) problems"): " + problems.joined(separator: "; ")
  }
}
