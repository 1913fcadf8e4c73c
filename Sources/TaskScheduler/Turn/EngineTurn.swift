import TaskModel

/// What one turn of the engine leads to once its commit is durable, and what undoes it in memory if the commit fails.
struct EngineTurn {
  /// Runs to begin.
  var orders: [RunOrder] = []
  /// Runs to begin at their time.
  var held: [(order: RunOrder, due: WallTime)] = []
  /// Runs to ask to stop.
  var expirations: [(RunID, StopReason)] = []
  /// Answers to who waits.
  var answers: [() -> Void] = []
  /// What observers are told, if there are any.
  var events: [HostEvent] = []
  /// Runs that ended.
  var history: [RunRecord] = []
  /// The identifiers that were paced for the first time, and how long the pace is.
  var paced: [(identifier: TaskIdentifier, interval: Duration)] = []
  /// Whether a request that waits for a file has changed.
  var changedWatches = false
  /// The files that requests wait for, if that may have changed.
  var watches: Set<String>?
  /// Runs to take back from the launcher.
  var withdrawals: [RunID] = []
  /// Held runs that were taken back.
  var unheld: [RunID] = []
  /// For undoing what was changed in memory if the commit fails.
  var claimed: [RunID] = []
  var begun: [Claim] = []
  var recorded: [RunID] = []
  var released: [Claim] = []
  var neverBegun: [LiveRunEntry] = []
  var started: [LiveRunEntry] = []
  var ended: [LiveRunEntry] = []
  var stopped: [RunID] = []
  /// Runs that ended, of identifiers with a quota of run time, until the quota counts them: when that is durable.
  var unmeasured: [LiveRunEntry] = []
  /// What changed of plugins' health, in order.
  var pluginHealth: [HealthChange] = []
  /// How the numbers of live requests changed, in order.
  var liveSteps: [(identifier: TaskIdentifier, step: Int)] = []
  /// How often a change moved what handlers remember: when something is due, how many requests are live.
  var changes = 0

  /// One change of a plugin's health.
  struct HealthChange {
    let identifier: TaskIdentifier
    let health, before: PluginHealth?
    let incidentBefore: UInt64?
    let newestBefore: RunID?

    /// What observers are told of it.
    var notice: Scheduler.Notice { .health(identifier, health ?? PluginHealth()) }
  }

  /// What was appended since a mark.
  struct Dropped {
    /// The runs that were asked to stop.
    let stopped: [RunID]
    let pluginHealth: [HealthChange]
    let liveSteps: [(identifier: TaskIdentifier, step: Int)]
    /// Whether what handlers remember was changed.
    let changedHandlers: Bool
  }

  /// How far a turn had come.
  struct Mark {
    fileprivate let expirations, events, stopped, pluginHealth, liveSteps, changes: Int
  }

  /// How far the turn has come; what a change appends after it can be dropped.
  var mark: Mark {
    Mark(
      expirations: expirations.count, events: events.count, stopped: stopped.count, pluginHealth: pluginHealth.count,
      liveSteps: liveSteps.count,
      changes: changes)
  }

  /// A request of an identifier more is live, or one less.
  mutating func countLive(_ identifier: TaskIdentifier, by step: Int) { liveSteps.append((identifier, step)) }

  /// Drops what was appended since `mark`.
  mutating func takeBack(to mark: Mark) -> Dropped {
    let dropped = Dropped(
      stopped: Array(stopped[mark.stopped...]), pluginHealth: Array(pluginHealth[mark.pluginHealth...]),
      liveSteps: Array(liveSteps[mark.liveSteps...]), changedHandlers: changes != mark.changes)
    expirations.removeLast(expirations.count - mark.expirations)
    events.removeLast(events.count - mark.events)
    stopped.removeLast(stopped.count - mark.stopped)
    pluginHealth.removeLast(pluginHealth.count - mark.pluginHealth)
    liveSteps.removeLast(liveSteps.count - mark.liveSteps)
    return dropped
  }
}
