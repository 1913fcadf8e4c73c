/// Why a plugin could not be launched.
public struct LaunchFailure: Error, Sendable, Hashable {
  /// At which step.
  public enum Step: String, Sendable {
    /// The dynamic loader refused it.
    case load
    /// It crashed, or ended its process, while it was loaded or launched.
    case crashed
    /// Its launch function did not return in time.
    case timeout
    /// Its launch function returned a status that is not OK.
    case status
    /// It registered nothing, or what it registered was refused.
    case registration
    /// What it registered is not what the note in its file says.
    case note
    /// It registered more than it may.
    case registeredTwice
    /// The identifier is another plugin's.
    case identifierTaken
    /// The identifier is not permitted.
    case notPermitted
  }

  /// At which step.
  public var step: Step
  /// What was seen, a line of ``PluginText``: it may have the plugin's words in it.
  public let observed: String

  /// A failure as given.
  public init(step: Step, observed: String) {
    self.step = step
    self.observed = PluginText.line(observed, limit: Limits.sentenceBytes)
  }
}
