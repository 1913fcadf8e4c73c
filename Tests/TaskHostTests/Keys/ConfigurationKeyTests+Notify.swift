import Testing

@testable import TaskHost

extension ConfigurationKeyTests {
  private static let told = "progress and the end of a continued run go to the command, by environment and standard input"

  /// Keys of `[[notify]]`.
  static let notifyProofs: [String: KeyProof] = [
    "notify.on": .endToEnd("NotifyTests", told), "notify.command": .endToEnd("NotifyTests", told),
    "notify.bus": .endToEnd("NotifyTests", "a bus without a desktop costs a line in the log, and no run"),
  ]
}
