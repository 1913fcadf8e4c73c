import SchedulingLimits
import TaskModel

/// The effects of one engine turn, to carry out once its commit is durable, and what is needed to undo it in memory if the commit fails.
struct EngineTurn {
  /// Runs to begin.
  var orders: [RunOrder] = []
  /// Runs to begin when they are due.
  var held: [(order: RunOrder, due: WallTime)] = []
  /// Runs to ask to stop.
  var expirations: [(RunID, StopReason)] = []
  /// Answers to callers.
  var answers: [() -> Void] = []
  /// Events for observers, if there are any.
  var events: [HostEvent] = []
  /// Runs that ended.
  var history: [RunRecord] = []
  /// Requests that were submitted, if traces are made of them.
  var submitted: [SubmittedRequest] = []
  /// The identifiers that were paced for the first time, with their intervals.
  var paced: [(identifier: TaskIdentifier, interval: Duration)] = []
  /// Whether a request that waits for a file has changed.
  var changedWatches = false
  /// The files that requests wait for, if they may have changed; otherwise nil.
  var watches: Set<String>?
  /// Requests of the fleet that ended without a run.
  var endedWaiting: [RequestID] = []
  /// Requests of the fleet that the host holds no more.
  var surrendered: [SurrenderedRequest] = []
  /// Of the fleet's requests that have arrived, the fencing tokens with which the host had them before; nil for none.
  var tokensBefore: [(RequestID, Int64?)] = []
  /// The wake-ups of identifiers before those of the turn, if a rate limits them; nil for none.
  private(set) var wakesBefore: [(TaskIdentifier, RateLimiter?)] = []
  /// The length of ``wakesBefore`` at the last mark.
  private var lastMark = 0
  /// Events that the host raises, to deliver when the inputs are settled.
  var raised: [String] = []
  /// Runs to take back from the launcher.
  var withdrawals: [RunID] = []
  /// Held runs that were taken back.
  var unheld: [RunID] = []
  // The following undo changes in memory if the commit fails.
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
  /// Changes of plugin health, in order.
  var pluginHealth: [HealthChange] = []
  /// Changes of the numbers of live requests, in order.
  var liveSteps: [(identifier: TaskIdentifier, step: Int)] = []
  /// The pauses before the turn, if it changed them.
  var pausesBefore: PauseBook?
  /// What was expected before the turn, if the end of a pause changed it.
  var objectivesBefore: [TaskIdentifier: ObjectiveState]?
  /// Pauses that ended by themselves.
  var endedPauses: [Pause] = []
  /// What has become late, or is no longer.
  var objectives: [ObjectiveState] = []
  /// What failed for good and was not looked at yet.
  var incidents: [Incident] = []
  /// What was found to tell of.
  var found: [Incident] = []
  /// What became of that, by the rules' names.
  var told: [(rule: String, step: NoticeStep)] = []
  /// The incidents of earlier turns that this one tells of.
  var overdueTaken: [Incident] = []
  /// What was remembered of notifications before the turn, if it changed that.
  var noticesBefore: NoticeBook?
  /// How much of ``history`` and of ``pluginHealth`` was looked at for incidents.
  var noticedHistory = 0
  var noticedHealth = 0
  /// The number of requests that were set aside.
  var setAside = 0
  /// The number of changes to due times and live counts, which handlers remember.
  var changes = 0

  struct HealthChange {
    let identifier: TaskIdentifier
    let health, before: PluginHealth?
    let incidentBefore: UInt64?
    let newestBefore: RunID?

    /// The notice for observers.
    var notice: Scheduler.Notice { .health(identifier, health ?? PluginHealth()) }
  }

  /// The dropped effects that need undoing in memory.
  struct Dropped {
    /// The runs that were asked to stop.
    let stopped: [RunID]
    let pluginHealth: [HealthChange]
    let liveSteps: [(identifier: TaskIdentifier, step: Int)]
    let tokensBefore: [(RequestID, Int64?)]
    let wakesBefore: [(TaskIdentifier, RateLimiter?)]
    /// Whether due times or live counts were changed.
    let changedHandlers: Bool
  }

  /// A position in a turn.
  struct Mark {
    fileprivate let expirations, events, raised, stopped, pluginHealth, liveSteps, changes, incidents, submitted: Int
    fileprivate let tokensBefore, wakesBefore: Int
  }

  /// Remembers what an identifier's wake-ups were before they change, once between two marks.
  mutating func noteWakes(of identifier: TaskIdentifier, _ limiter: RateLimiter?) {
    guard !wakesBefore[lastMark...].contains(where: { $0.0 == identifier }) else { return }
    wakesBefore.append((identifier, limiter))
  }

  /// The current position; later effects can be dropped.
  mutating func setMark() -> Mark {
    lastMark = wakesBefore.count
    return Mark(
      expirations: expirations.count, events: events.count, raised: raised.count, stopped: stopped.count,
      pluginHealth: pluginHealth.count, liveSteps: liveSteps.count, changes: changes, incidents: incidents.count,
      submitted: submitted.count,
      tokensBefore: tokensBefore.count, wakesBefore: wakesBefore.count)
  }

  /// Counts a request that became live (1) or ended (−1).
  mutating func countLive(_ identifier: TaskIdentifier, by step: Int) { liveSteps.append((identifier, step)) }

  /// Drops the effects that were appended since `mark`.
  mutating func takeBack(to mark: Mark) -> Dropped {
    let dropped = Dropped(
      stopped: Array(stopped[mark.stopped...]), pluginHealth: Array(pluginHealth[mark.pluginHealth...]),
      liveSteps: Array(liveSteps[mark.liveSteps...]), tokensBefore: Array(tokensBefore[mark.tokensBefore...]),
      wakesBefore: Array(wakesBefore[mark.wakesBefore...]),
      changedHandlers: changes != mark.changes)
    expirations.removeLast(expirations.count - mark.expirations)
    events.removeLast(events.count - mark.events)
    raised.removeLast(raised.count - mark.raised)
    stopped.removeLast(stopped.count - mark.stopped)
    pluginHealth.removeLast(pluginHealth.count - mark.pluginHealth)
    liveSteps.removeLast(liveSteps.count - mark.liveSteps)
    incidents.removeLast(max(0, incidents.count - mark.incidents))
    submitted.removeLast(submitted.count - mark.submitted)
    tokensBefore.removeLast(tokensBefore.count - mark.tokensBefore)
    wakesBefore.removeLast(wakesBefore.count - mark.wakesBefore)
    lastMark = min(lastMark, wakesBefore.count)
    return dropped
  }
}
