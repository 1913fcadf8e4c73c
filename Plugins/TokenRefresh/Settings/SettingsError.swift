/// Everything that is wrong with the settings, a clause each; whoever prints it says "settings" first.
struct SettingsError: Error, CustomStringConvertible {
  let problems: [String]

  var description: String { problems.joined(separator: "; ") }
}
