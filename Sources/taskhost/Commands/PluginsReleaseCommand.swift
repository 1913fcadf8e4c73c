import ArgumentParser
import HostControl
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
    Terminal.print(Self.sentence(answer.node, identifier: identifier))
  }

  /// What the release changed.
  static func sentence(_ node: JSONNode, identifier: String) -> String {
    let strikes = node["strikes"]?.integer ?? 0
    let wasHeld = node["quarantined_since"] != nil || node["held_until"] != nil
    guard strikes > 0 || wasHeld || (node["host_crashes"]?.integer ?? 0) > 0 else { return "\(identifier) had nothing held against it" }
    let standing = node["quarantined_since"] != nil ? "was quarantined" : "was held back"
    let count = strikes == 1 ? "1 crash or forced stop" : "\(strikes) crashes or forced stops"
    let last = (node["last_trouble"]?.string).map { "; last: \($0.escapingControlCharacters)" } ?? ""
    return "\(identifier) released: it \(standing) after \(count)\(last)"
  }
}
