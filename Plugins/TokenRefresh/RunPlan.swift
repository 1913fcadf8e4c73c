import FoundationEssentials
import TaskHostSDK

/// The requests that the plugin has of its own: one for the next refresh, and for each token file one that waits for its changes.
///
/// They are keyed, so there is never a second of one. An operator needs no schedule.
struct RunPlan: Sendable {
  /// The key of the request for the next refresh. It repeats, so that no failure ends it.
  static let nextKey = "next"
  /// The key of the look that each launch begins with: files may have changed while the host did not run.
  static let lookKey = "look"
  /// The prefix of the keys of requests that watch a token file.
  static let watchPrefix = "watch/"

  /// The longest time without a refreshing run: a day.
  static let longest: TimeInterval = 86_400
  /// The shortest time from a refresh to the next one of the same account, however short its tokens live: 10 s.
  static let shortest: TimeInterval = 10
  /// When an account is tried again whose retries by the host have failed: 15 min.
  static let afterRetries: TimeInterval = 900
  /// When an account is tried again that needs an operator: an hour.
  static let afterFailure: TimeInterval = 3600
  /// When an account is looked at again that another process refreshes, or that a run did not get to: a minute.
  static let afterOthers: TimeInterval = 60
  /// The time from a file's last change to the look at it: whoever signs in may write in several steps. 250 ms.
  static let debounce = Duration.milliseconds(250)

  let accounts: [Account]

  /// The look at every account that a launch submits; nil without accounts.
  func lookAtLaunch() throws -> TaskRequest? {
    guard !accounts.isEmpty else { return nil }
    return try TaskRequest(
      identifier: TokenRefreshTask.identifier, json: RefreshPayload(look: true), uniqueKey: Self.lookKey, onConflict: .update)
  }

  /// Submits what the run's accounts need next. Failures are logged: the tokens are refreshed, so the run is not repeated for them.
  func arrange(after report: RefreshReport, _ payload: RefreshPayload, _ task: TaskContext<RefreshPayload>) {
    do {
      let live = try task.requests()
      try arrangeNext(after: report, isWhole: payload.account == nil, live, task)
      if payload.account == nil { try arrangeWatches(live, task) }
    } catch {
      task.logger.warning("the next run cannot be arranged: \(error); give the plugin a schedule until this is mended")
    }
  }

  /// When an account must be looked at again; nil once it is signed out: then a change of its file is awaited.
  static func next(after report: AccountReport, now: Date) -> Date? {
    switch report.result {
    case .refreshed: max(report.refreshAt ?? .distantPast, now + shortest)
    case .notDue: report.refreshAt
    case .due: now
    case .retry: now + max(report.retryAfter?.inSeconds ?? 0, afterRetries)
    case .failed: now + afterFailure
    case .inProgress, .skipped: now + afterOthers
    case .signedOut: nil
    }
  }

  /// Moves the next refresh to the earliest time at which an account needs it. A run of one account only moves it forward.
  private func arrangeNext(
    after report: RefreshReport, isWhole: Bool, _ live: [RequestInfo], _ task: TaskContext<RefreshPayload>
  ) throws {
    let now = task.now
    let known = Set(accounts.map(\.name))
    let times = report.accounts.filter { known.contains($0.name) }.compactMap { Self.next(after: $0, now: now) }
    guard !accounts.isEmpty, isWhole || !times.isEmpty else { return }
    let time = min(times.min() ?? .distantFuture, now + Self.longest)
    let planned = live.first { $0.request.uniqueKey == Self.nextKey && $0.state == .pending }?.due
    if !isWhole, let planned, planned <= time { return }
    var next = TaskRequest(
      identifier: TokenRefreshTask.identifier, earliestBegin: time, uniqueKey: Self.nextKey, onConflict: .update,
      conditions: accounts.allSatisfy { $0.server.address.isLoopback } ? [] : .network)
    next.repetition = .every(.seconds(Self.longest))
    // A server that was asked may have revoked the old tokens.
    next.onLostCondition = .finish
    try task.submit(next)
  }

  /// Watches the token files of all accounts, and no others.
  private func arrangeWatches(_ live: [RequestInfo], _ task: TaskContext<RefreshPayload>) throws {
    var watched: [String: RequestInfo] = [:]
    for info in live where info.request.watch != nil {
      if let key = info.request.uniqueKey, key.hasPrefix(Self.watchPrefix) { watched[key] = info }
    }
    for account in accounts {
      let key = Self.watchPrefix + account.name
      if let info = watched.removeValue(forKey: key), info.request.watch == account.tokenFile { continue }
      var watch = try TaskRequest(
        identifier: TokenRefreshTask.identifier, json: RefreshPayload(account: account.name, look: true), uniqueKey: key,
        onConflict: .update)
      watch.watch = account.tokenFile
      watch.debounce = Self.debounce
      watch.repetition = .event
      try task.submit(watch)
    }
    for (_, info) in watched { try task.cancel(requestID: info.id) }
  }
}
