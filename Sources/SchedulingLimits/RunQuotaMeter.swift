public import TaskModel

/// Measures run time against a ``RunQuota`` with a sliding period.
///
/// Counts the time of ended runs, and of live runs that the caller passes. A run may begin while less than the allowance is used, so the
/// last run can exceed the allowance. Needs at most 1,024 entries, however many runs there are: beyond that, neighbours are merged and spread evenly
/// over their time.
public struct RunQuotaMeter: Sendable, Hashable {
  /// The quota.
  public let quota: RunQuota
  /// Ended runs, ascending by their ends.
  private var spans: [Span] = []
  /// The last runs that count for the bucket, oldest first.
  private var judged: [Judged] = []

  private static let mostSpans = 1024

  private struct Judged: Sendable, Hashable {
    var start: WallTime
    let merit: BehaviourBucket.Merit
  }

  /// Run time, spread evenly over the time from `start` to `end`, in milliseconds since 1970.
  private struct Span: Sendable, Hashable {
    var start: Int64
    var end: Int64
    var time: Int64

    /// The part of the run time between two moments.
    func time(from: Int64, to: Int64) -> Int64 {
      let overlap = min(end, to) - max(start, from)
      guard overlap > 0 else { return 0 }
      return overlap == end - start ? time : Int64(Int128(time) * Int128(overlap) / Int128(end - start))
    }
  }

  /// Creates a meter without runs.
  public init(_ quota: RunQuota) { self.quota = quota }

  /// Counts a run that has ended; runs may come in any order.
  public mutating func record(start: WallTime, duration: Duration, outcome: RunOutcome) {
    if let merit = BehaviourBucket.Merit(outcome) { judge(Judged(start: start, merit: merit)) }
    let end = Self.moment(start + duration)
    // Run time more than a period before the end never counts.
    let begin = max(Self.moment(start), end - longestPeriod)
    guard begin < end else { return }
    let span = Span(start: begin, end: end, time: end - begin)
    spans.insert(span, at: (spans.lastIndex { $0.end <= end } ?? -1) + 1)
    if let newest = spans.last?.end { spans.removeFirst(spans.prefix { $0.end <= newest - longestPeriod }.count) }
    if spans.count > Self.mostSpans { merge() }
  }

  /// Forgets how useful runs were, for example after an update or a release from quarantine. Their time still counts.
  public mutating func forgetBehaviour() { judged = [] }

  private var longestPeriod: Int64 { quota.longestPeriod.wholeMilliseconds }

  /// The run time of the last period of the bucket: of ended runs, and of live runs that began at `live`.
  public func used(at now: WallTime, live: [WallTime] = []) -> Duration {
    used(at: now, live: live, period: allowance(at: now).period.wholeMilliseconds)
  }

  private func used(at now: WallTime, live: [WallTime], period: Int64) -> Duration {
    let to = Self.moment(now)
    let from = to - period
    return .milliseconds(
      spans.reduce(0) { $0 + $1.time(from: from, to: to) } + live.reduce(0) { $0 + max(0, to - max(from, Self.moment($1))) })
  }

  /// The bucket from the last runs that are recent enough at `now`.
  public func bucket(at now: WallTime) -> BehaviourBucket { BehaviourBucket(merits(at: now)) }

  /// The run time that the bucket allows, and in which period.
  public func allowance(at now: WallTime) -> RunQuota.Allowance { quota.allowance(in: bucket(at: now)) }

  /// The first moment, not before `now`, at which less than the allowance is used; `now` if some is left.
  ///
  /// Assumes that live runs end now; while they continue, the result can move.
  public func opensAt(_ now: WallTime, live: [WallTime] = []) -> WallTime {
    let allowance = allowance(at: now)
    let period = allowance.period.wholeMilliseconds
    guard used(at: now, live: live, period: period) >= allowance.time else { return now }
    var ended = self
    for start in live where start < now { ended.record(start: start, duration: now - start, outcome: .stopped) }
    // From here on the used time only decreases, and after one period it is 0.
    var (low, high) = (Self.moment(now), Self.moment(now) + period)
    while low < high {
      let middle = low + (high - low) / 2
      let isOpen = ended.used(at: WallTime(unixMilliseconds: middle), live: [], period: period) < allowance.time
      if isOpen { high = middle } else { low = middle + 1 }
    }
    return WallTime(unixMilliseconds: low)
  }

  /// When the allowance was used up, with the bucket of `now`; nil if it is not.
  public func usedUpSince(_ now: WallTime, live: [WallTime] = []) -> WallTime? {
    let allowance = allowance(at: now)
    let period = allowance.period.wholeMilliseconds
    func isUsedUp(at moment: Int64) -> Bool {
      used(at: WallTime(unixMilliseconds: moment), live: live, period: period) >= allowance.time
    }
    guard isUsedUp(at: Self.moment(now)) else { return nil }
    // Between these moments the used time changes linearly.
    let edges = Set(
      spans.flatMap { [$0.start, $0.end, $0.start + period, $0.end + period] }
        + live.flatMap { [Self.moment($0), Self.moment($0) + period] })
    var high = Self.moment(now)
    for edge in edges.filter({ $0 < high }).sorted(by: >) {
      guard !isUsedUp(at: edge) else {
        high = edge
        continue
      }
      var low = edge
      while low + 1 < high {
        let middle = low + (high - low) / 2
        if isUsedUp(at: middle) { high = middle } else { low = middle }
      }
      break
    }
    return WallTime(unixMilliseconds: high)
  }

  /// The state after the wall clock was set by `amount` (positive: forward).
  public func shifted(by amount: Duration) -> RunQuotaMeter {
    var meter = self
    for index in spans.indices {
      let start = Self.moment(WallTime(unixMilliseconds: spans[index].start) + amount)
      meter.spans[index].end = start + (spans[index].end - spans[index].start)
      meter.spans[index].start = start
    }
    for index in judged.indices { meter.judged[index].start = judged[index].start + amount }
    return meter
  }

  /// The used time, the allowance and the reason for it, as a clause.
  public func explain(at now: WallTime, live: [WallTime] = []) -> String {
    let bucket = bucket(at: now)
    let share = bucket == .active || quota.hasOwnAllowances ? "" : " (\(bucket.share) of \(LengthText.words(quota.time)))"
    let used = LengthText.words(used(at: now, live: live))
    let allowance = allowance(at: now)
    return "used \(used) of \(LengthText.words(allowance.time))\(share) in the last \(LengthText.words(allowance.period)); "
      + "bucket \(bucket.rawValue) because \(reason(at: now))"
  }

  /// In milliseconds since 1970, limited to 30 million years, so that calculations do not overflow.
  private static func moment(_ time: WallTime) -> Int64 {
    min(max(time.unixMilliseconds, -1_000_000_000_000_000_000), 1_000_000_000_000_000_000)
  }

  private func reason(at now: WallTime) -> String {
    let merits = merits(at: now)
    guard merits.count >= BehaviourBucket.fewestRuns else {
      return "fewer than \(BehaviourBucket.fewestRuns) runs are known (\(merits.count))"
    }
    let half = merits.count { $0 == .half }
    let idle = half == 0 ? "" : ", and \(half) had nothing to do or did only a part, which counts half"
    return "\(merits.count { $0 == .full }) of the last \(merits.count) runs succeeded\(idle)"
  }

  private func merits(at now: WallTime) -> [BehaviourBucket.Merit] {
    judged.filter { now - $0.start <= BehaviourBucket.memory }.map(\.merit)
  }

  private mutating func judge(_ run: Judged) {
    judged.insert(run, at: (judged.lastIndex { $0.start <= run.start } ?? -1) + 1)
    if judged.count > BehaviourBucket.runs { judged.removeFirst() }
  }

  /// Halves the number of entries.
  private mutating func merge() {
    spans = stride(from: 0, to: spans.count, by: 2).map { index in
      guard index + 1 < spans.count else { return spans[index] }
      let (left, right) = (spans[index], spans[index + 1])
      return Span(start: min(left.start, right.start), end: right.end, time: left.time + right.time)
    }
  }
}
