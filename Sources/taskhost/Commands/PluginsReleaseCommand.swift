import ArgumentParser
import TaskModel

struct PluginsReleaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release",
    abstract: "Release a held or quarantined plugin, so that it runs again.",
    discussion: """
      The host holds a plugin back after each crash or forced stop in a row, longer each time, and quarantines it after the fifth.

      EXAMPLES
        taskhost plugins release org.taskhost.cleanup
      """)

  @Argument(help: "The plugin's identifier.")
  var identifier: String
  @OptionGroup var host: HostOptions

  func run() async throws {
    try await host.ask("/v1/plugins/\(ControlClient.escape(identifier))/release", method: "POST") { answer in
      Terminal.print(Self.sentence(try answer.read(), identifier: identifier))
    }
  }

  /// What the release changed.
  static func sentence(_ answer: ReleaseAnswer, identifier: String) -> String {
    let wasQuarantined = answer.quarantinedSinceUnixMs != nil
    guard answer.strikes > 0 || wasQuarantined || answer.heldUntilUnixMs != nil || answer.hostCrashes > 0 else {
      return "\(identifier) had nothing held against it"
    }
    let standing = wasQuarantined ? "was quarantined" : "was held back"
    let count = answer.strikes == 1 ? "1 crash or forced stop" : "\(answer.strikes) crashes or forced stops"
    let last = answer.lastTrouble.map { "; last: \($0.escapingControlCharacters)" } ?? ""
    return "\(identifier) released: it \(standing) after \(count)\(last)"
  }
}
