import TaskModel

/// The effects of one engine turn, for when its commit is durable, and what undoes it in memory if the commit fails.
struct EngineTurn {
  /// Runs to begin.
  var orders: [RunOrder] = []
  /// Runs to begin at their time.
  var held: [(order: RunOrder, due: WallTime)] = []
  /// Runs to ask to stop.
  var expirations: [(RunID, StopReason)] = []
  /// Answers to callers.
  var answers: [() -> Void] = []
  /// Events for observers, if there are any.
  var events: [HostEvent] = []
  /// Runs that ended.
  var history: [RunRecord] = []
  /// The identifiers that were paced for the first time, and their intervals.
  var paced: [(identifier: TaskIdentifier, interval: Duration)] = []
  /// Whether a request that waits for a file has changed.
  var changedWatches = false
  /// The files that requests wait for, if that may have changed.
  var watches: Set<String>?
  /// Runs to take back from the launcher.
  var withdrawals: [RunID] = []
  /// Held runs that were taken back.
  var unheld: [RunID] = []
  /// To undo changes in memory if the commit fails.
  var claimed: [RunID] = []
  var begun: [Claim] = []
  var recorded: [RunID] = []
  var released: [Claim] = []
  var neverBegun: [LiveRunEntry] = []
  var started: [LiveRunEntry] = []
  var ended: [LiveRunEntry] = []
  var stopped: [RunID] = []
  /// Ended runs of identifiers with a run time quota, until their ends are durable and count.
  var unmeasured: [LiveRunEntry] = []
  /// Changes of plugins' health, in order.
  var pluginHealth: [HealthChange] = []
  /// Changes of the numbers of live requests, in order.
  var liveSteps: [(identifier: TaskIdentifier, step: Int)] = []
  /// The number of changes to what handlers remember: due times and live counts.
  var changes = 0

  struct HealthChange {
    let identifier: TaskIdentifier
    let health, before: PluginHealth?
    let incidentBefore: UInt64?
    let newestBefore: RunID?

    /// The notice for observers.
    var notice: Scheduler.Notice { .health(identifier, health ?? PluginHealth()) }
  }

  /// What was appended since a mark.
  struct Dropped {
    /// The runs that were asked to stop.
    let stopped: [RunID]
    let pluginHealth: [HealthChange]
    let liveSteps: [(identifier: TaskIdentifier, step: Int)]
    /// Whether remembered handler data was changed.
    let changedHandlers: Bool
  }

  /// A position in a turn.
  struct Mark {
    fileprivate let expirations, events, stopped, pluginHealth, liveSteps, changes: Int
  }

  /// The present position; later effects can be dropped.
  var mark: Mark {
    Mark(
      expirations: expirations.count, events: events.count, stopped: stopped.count, pluginHealth: pluginHealth.count,
      liveSteps: liveSteps.count,
      changes: changes)
  }

  /// Counts a request that became live (1) or ended (−1).
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
