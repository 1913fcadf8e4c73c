public import TaskModel

extension Scheduler {
  /// What the scheduler tells its host, on its thread; the host returns promptly.
  public enum Notice: Sendable {
    /// Something is durable by now. Sent only while ``observeEvents(_:)`` is on.
    case event(HostEvent)
    /// The store cannot be written: no new runs, submissions are refused, outcomes are kept and tried again.
    case storeFailed(StoreError)
    /// It can again.
    case storeRecovered
    /// A run ended.
    case ended(RunRecord)
    /// A plugin's health has changed.
    case health(TaskIdentifier, PluginHealth)
    /// A submission that names no time was made to wait for `minimum_interval`; said once of an identifier.
    case paced(TaskIdentifier, interval: Duration)
    /// These conditions of the machine are waited for or run by now.
    case conditionsAwaited(Conditions)
    /// Requests wait for changes of the files at these absolute paths now.
    case filesAwaited(Set<String>)
  }
}
