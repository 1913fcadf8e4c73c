extension BGContinuedProcessingTaskRequest {
  /// What to do where a run cannot begin at once.
  public enum SubmissionStrategy: Int, Sendable {
    /// Refuse the submission with ``BGTaskScheduler/Error/Code/immediateRunIneligible``.
    case fail = 0
    /// Wait for its turn.
    case queue = 1
  }

  /// What a run needs beyond the ordinary.
  public struct Resources: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int

    /// Resources with these bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// Nothing beyond the ordinary.
    public static let `default`: Resources = []

    /// A graphics processor. No host offers it: ``BGTaskScheduler/supportedResources`` is empty.
    public static let gpu = Resources(rawValue: 1)
  }
}
