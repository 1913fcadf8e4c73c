/// A plugin that waits until the operator approves what it may do, because that is more than was approved before.
public struct PendingApproval: Sendable, Hashable {
  /// The plugin's first identifier, which names it.
  public let identifier: TaskIdentifier
  /// The path of its file.
  public let file: String
  /// What is new, a sentence without a full stop each; all that it may do if nothing was approved before.
  public let gained: [String]
  /// What was approved and is not among what it may do now.
  public let lost: [String]
  /// What the author says that it needs, each as the configuration would have it. It may say anything.
  public var asks: [String] = []
  /// Names exactly what would be approved: it changes with that.
  public let fingerprint: String
  /// Whether the plugin goes on as it was before. Otherwise it is not loaded, and its requests wait.
  public let isRunning: Bool

  /// Creates it from its parts.
  public init(_ identifier: TaskIdentifier, file: String, gained: [String], lost: [String], fingerprint: String, isRunning: Bool) {
    (self.identifier, self.file, self.gained, self.lost) = (identifier, file, gained, lost)
    (self.fingerprint, self.isRunning) = (fingerprint, isRunning)
  }

  /// For the status of the host.
  public var problem: Problem {
    let new = gained.joined(separator: "; ")
    let effect = isRunning ? "it goes on with what it had" : "it is not loaded, and its requests wait"
    return Problem(
      .approvalNeeded, of: identifier.rawValue, "the plugin \(identifier) waits for approval: \(new); \(effect)",
      remedy: "taskhost plugins approve \(identifier)")
  }
}
