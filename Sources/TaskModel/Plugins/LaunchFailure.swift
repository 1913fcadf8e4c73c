/// Why a plugin could not be launched.
public struct LaunchFailure: Error, Sendable, Hashable {
  /// The step that failed.
  public enum Step: String, Sendable {
    /// The dynamic loader refused the plugin.
    case load
    /// The plugin crashed or exited while it was loaded or launched.
    case crashed
    /// The launch function did not return in time.
    case timeout
    /// The launch function returned a status that is not OK.
    case status
    /// The plugin registered nothing, or the host refused its registration.
    case registration
    /// The registration differs from the note in the plugin's file.
    case note
    /// The plugin registered more than one handler.
    case registeredTwice
    /// Another plugin has the identifier.
    case identifierTaken
    /// The identifier is not permitted.
    case notPermitted
  }

  /// The step that failed.
  public var step: Step
  /// What was seen, a ``PluginText`` line; it can contain text from the plugin.
  public let observed: String

  /// Creates a failure.
  public init(step: Step, observed: String) {
    self.step = step
    self.observed = PluginText.line(observed, limit: Limits.sentenceBytes)
  }
}
