import TaskHostSDK
import TaskModel

extension SubmittedRequest {
  init(_ request: TaskModel.TaskRequest) {
    identifier = request.identifier.rawValue
    payload = request.payload
    earliestBeginUnixMilliseconds = request.earliestBegin?.unixMilliseconds
    uniqueKey = request.uniqueKey
    onConflict = request.onConflict.shown
    conditions = TaskHostSDK.Conditions(rawValue: request.conditions.rawValue)
    delay = request.delay
    deadlineUnixMilliseconds = request.deadline?.unixMilliseconds
    repetition = request.repetition?.shown
    flex = request.gates.flex
    jitter = request.jitter
    wake = request.gates.wakes
    event = request.event?.path == nil ? request.event?.name : nil
    watch = request.event?.path
    debounce = request.event?.debounce ?? .zero
    after = request.after.compactMap(\.shown)
    window = request.gates.window
    priority = request.priority
    retry = request.retry?.shown
    onLostCondition = request.gates.onLostCondition == .finish ? .finish : .stop
    tags = request.tags
    resources = request.gates.resources
    concurrencyKey = request.gates.concurrencyKey
    prefer = request.gates.prefer
    idempotencyKey = request.idempotencyKey
    uniqueWindow = request.uniqueWindow
    traceparent = request.traceparent?.description
  }
}

extension RepeatRule {
  fileprivate var shown: TaskHostSDK.TaskRequest.Repetition {
    switch schedule {
    case .every(let interval): .every(interval, missed: missed.shown)
    case .cron(let cron):
      .cron(
        cron.expression, timeZone: cron.timeZone.isEmpty ? nil : cron.timeZone, daylight: cron.daylight.shown, missed: missed.shown)
    case .event: .event
    }
  }
}

extension MissedPolicy {
  fileprivate var shown: TaskHostSDK.TaskRequest.Missed {
    switch self {
    case .latest: .latest
    case .skip: .skip
    case .all(let limit, let spread): .all(limit: limit, spread: spread)
    }
  }
}

extension DaylightPolicy {
  fileprivate var shown: TaskHostSDK.TaskRequest.Daylight {
    let repeated: TaskHostSDK.TaskRequest.Daylight.Repeated =
      switch repeated {
      case .first: .first
      case .last: .last
      case .both: .both
      }
    return TaskHostSDK.TaskRequest.Daylight(gap: gap == .shift ? .shift : .skip, repeated: repeated)
  }
}

extension RetryPolicy {
  fileprivate var shown: TaskHostSDK.TaskRequest.Retry {
    TaskHostSDK.TaskRequest.Retry(
      attempts: attempts, backoff: backoff == .linear ? .linear : .exponential, initial: initial, maximum: maximum)
  }
}

extension Dependency {
  /// Nil for a position, which a plugin cannot name.
  fileprivate var shown: TaskHostSDK.TaskRequest.Predecessor? {
    guard case .request(let id) = predecessor else { return nil }
    return TaskHostSDK.TaskRequest.Predecessor(id.description, onFailure: onFailure == .fail ? .fail : .ignore)
  }
}
