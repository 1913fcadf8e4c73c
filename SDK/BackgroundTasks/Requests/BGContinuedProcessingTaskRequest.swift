import Synchronization

/// Asks for a run of work that a person has started, which lasts as long as it makes progress.
///
/// ``BGTaskRequest/earliestBeginDate`` is ignored: it begins as soon as it can.
open class BGContinuedProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {  // reason: what changes is behind a lock
  private struct Fields {
    var title: String
    var subtitle: String
    var strategy = SubmissionStrategy.queue
    var resources: Resources = []
  }

  private let fields: Mutex<Fields>

  /// A request for the task that `identifier`, or a wildcard that covers it, was registered for.
  ///
  /// - Parameters:
  ///   - title: What is being done, for people.
  ///   - subtitle: More about it, for people.
  public init(identifier: String, title: String, subtitle: String) {
    fields = Mutex(Fields(title: title, subtitle: subtitle))
    super.init(identifier: identifier)
  }

  /// What is being done, for people.
  open var title: String {
    get { fields.withLock { $0.title } }
    set { fields.withLock { $0.title = newValue } }
  }

  /// More about it, for people.
  open var subtitle: String {
    get { fields.withLock { $0.subtitle } }
    set { fields.withLock { $0.subtitle = newValue } }
  }

  /// What to do if the run cannot begin at once. Default: ``SubmissionStrategy/queue``.
  open var strategy: SubmissionStrategy {
    get { fields.withLock { $0.strategy } }
    set { fields.withLock { $0.strategy = newValue } }
  }

  /// What the run needs beyond the ordinary. Anything that ``BGTaskScheduler/supportedResources`` lacks is refused at submission.
  open var requiredResources: Resources {
    get { fields.withLock { $0.resources } }
    set { fields.withLock { $0.resources = newValue } }
  }

  override func duplicate() -> BGTaskRequest {
    let copy = BGContinuedProcessingTaskRequest(identifier: identifier, title: title, subtitle: subtitle)
    copy.earliestBeginDate = earliestBeginDate
    copy.strategy = strategy
    copy.requiredResources = requiredResources
    return copy
  }

  override var type: BackgroundTasksPlugin.Kind { .continued }

  override var record: RequestDetails { RequestDetails(type: type, title: title, subtitle: subtitle, strategy: strategy.rawValue) }
}

extension BGContinuedProcessingTaskRequest {
  /// What to do if a run cannot begin at once.
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
