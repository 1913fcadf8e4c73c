import TaskModel

/// What a walk knows of a request by itself: from what it submitted and how runs ended.
struct WalkKnowledge {
  /// Attempts allowed.
  var limit: Int
  var isRepeating: Bool
  /// Attempts spent on the present occurrence.
  var spent = 0
  /// Losses in a row.
  var losses = 0
  /// The occurrence of its last start.
  var occurrence: WallTime?
  /// It was asked to stop: whatever its run returns, it is cancelled.
  var isStopped = false
  /// No run of it begins before then.
  var floor: WallTime
  /// An event came while it ran.
  var eventCame = false
  /// It was launched ahead of its time.
  var wasLaunched = false
  /// The calendar it repeats by was set back since a run of it began.
  var wasSetBack = false
  /// It was changed by a submission with its unique key, so that its course is not known any more.
  var wasUpdated = false
  /// Its own time on the calendar.
  var earliest: WallTime?
  /// A run of it has ended.
  var hasRun = false
  /// Which clock its times follow.
  var clock: DueClock
}
