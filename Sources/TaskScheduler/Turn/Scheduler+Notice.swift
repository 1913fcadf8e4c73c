public import TaskModel

extension Scheduler {
  /// Messages from the scheduler to its host. They arrive on the scheduler's thread, so the host must return promptly.
  public enum Notice: Sendable {
    /// An event is durable. Sent only while ``observeEvents(_:)`` is on.
    case event(HostEvent)
    /// The store cannot be written: no runs begin, submissions are refused, outcomes are kept and written later.
    case storeFailed(StoreError)
    /// The store can be written again.
    case storeRecovered
    /// A run was handed to its launcher, of an identifier that ``SchedulingPolicy/announced`` names.
    case began(RunReference)
    /// A request was submitted. Sent only if ``SchedulingPolicy/traces`` makes traces.
    case submitted(SubmittedRequest)
    /// A run ended.
    case ended(RunRecord)
    /// The host holds these requests of its fleet no more. What became of them is to be told there.
    case surrendered([SurrenderedRequest])
    /// A plugin's health has changed.
    case health(TaskIdentifier, PluginHealth)
    /// A submission without a time was made to wait for `minimum_interval`; sent once for each identifier.
    case paced(TaskIdentifier, interval: Duration)
    /// The work of an identifier is late, or no longer.
    case objective(ObjectiveState)
    /// Something happened that people are told of, if a rule covers it. Sent only if there are rules.
    case incident(Incident)
    /// What became of the incidents that a rule covers, by the rule's name.
    case told(rule: String, NoticeStep)
    /// A pause has ended by itself.
    case pauseEnded(Pause)
    /// Requests now wait for these conditions, or runs depend on them.
    case conditionsAwaited(Conditions)
    /// The machine must be awake then for a request that wakes it; nil: for none.
    case wakeAwaited(WallTime?)
    /// Requests now wait for changes of the files at these absolute paths.
    case filesAwaited(Set<String>)
  }
}
