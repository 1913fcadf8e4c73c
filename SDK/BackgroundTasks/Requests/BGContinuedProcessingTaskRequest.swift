import Synchronization

/// Asks for a run of work that a person started, which lasts as long as it makes progress.
///
/// ``BGTaskRequest/earliestBeginDate`` is ignored: the run begins as soon as possible.
open class BGContinuedProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {  // reason: what changes is behind a lock
  private struct Fields {
    var title: String
    var subtitle: String
    var strategy = SubmissionStrategy.queue
    var resources: Resources = []
  }

  private let fields: Mutex<Fields>

  /// Creates a request for the task registered as `identifier` or as a wildcard that covers it.
  ///
  /// - Parameters:
  ///   - title: The title of the work, for people.
  ///   - subtitle: Details of the work, for people.
  public init(identifier: String, title: String, subtitle: String) {
    fields = Mutex(Fields(title: title, subtitle: subtitle))
    super.init(identifier: identifier)
  }

  /// The title of the work, for people.
  open var title: String {
    get { fields.withLock { $0.title } }
    set { fields.withLock { $0.title = newValue } }
  }

  /// Details of the work, for people.
  open var subtitle: String {
    get { fields.withLock { $0.subtitle } }
    set { fields.withLock { $0.subtitle = newValue } }
  }

  /// What to do if the run cannot begin at once. Default: ``SubmissionStrategy/queue``.
  open var strategy: SubmissionStrategy {
    get { fields.withLock { $0.strategy } }
    set { fields.withLock { $0.strategy = newValue } }
  }

  /// The special resources that the run needs. Submission refuses any that ``BGTaskScheduler/supportedResources`` lacks.
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
    /// Wait until the run can begin.
    case queue = 1
  }

  /// Special resources of a run.
  public struct Resources: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int

    /// Creates a set of resources from its bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// No special resources.
    public static let `default`: Resources = []

    /// A graphics processor: a token of the operator's resource `gpu`, which the run takes. ``BGTaskScheduler/supportedResources`` says
    /// whether there is one.
    public static let gpu = Resources(rawValue: 1)
  }
}
