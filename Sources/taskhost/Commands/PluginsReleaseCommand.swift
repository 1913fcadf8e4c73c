import ArgumentParser
import TaskModel

/// `taskhost plugins release`
struct PluginsReleaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release",
    abstract: "Let a plugin run again that is held back or quarantined.",
    discussion: """
      A plugin that crashes, or has to be stopped by force, is held back for longer each time, and quarantined at the fifth time in a row.

      EXAMPLES
        taskhost plugins release org.taskhost.cleanup
      """)

  @Argument(help: "The plugin's identifier.")
  var identifier: String
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let answer = try await socketOptions.client().post("/v1/plugins/\(ControlClient.escape(identifier))/release")
    if json { return Terminal.print(answer.bytes) }
    Terminal.print(Self.sentence(try answer.read(), identifier: identifier))
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
