import CTaskHost
import TaskHostSDK
import TaskModel

// The host's values as the SDK and this module name them.

extension TaskHostSDK.StopReason {
  init(_ reason: TaskModel.StopReason) {
    switch reason {
    case .budget: self = .budget
    case .cancelled: self = .cancelled
    case .conditions: self = .conditions
    case .draining: self = .draining
    case .replaced: self = .replaced
    case .stalled: self = .stalled
    }
  }
}

extension TaskModel.StopReason {
  var shown: TaskHostSDK.StopReason { TaskHostSDK.StopReason(self) }

  /// `nil` for `none`, which a host never gives.
  init?(_ reason: TaskHostSDK.StopReason) {
    guard let same = Self.allCases.first(where: { $0.shown == reason }) else { return nil }
    self = same
  }
}

extension TaskModel.ConflictPolicy {
  init(_ policy: TaskHostSDK.ConflictPolicy) {
    switch policy {
    case .none: self = .none
    case .keep: self = .keep
    case .replace: self = .replace
    case .update: self = .update
    case .append: self = .append
    }
  }

  var shown: TaskHostSDK.ConflictPolicy {
    switch self {
    case .none: .none
    case .keep: .keep
    case .replace: .replace
    case .update: .update
    case .append: .append
    }
  }
}

extension RunEnding {
  /// - Parameter delay: What the handler asked for.
  init(_ ending: TaskModel.RunEnding, after delay: Duration?) {
    switch ending {
    case .returned(.success, _): self = .returned(.success)
    case .returned(.noop, _): self = .returned(.noop)
    case .returned(.snooze, _): self = .returned(.snooze(after: delay))
    case .returned(.retry, _): self = .returned(.retry(after: delay))
    case .returned(.failure, _), .returned(.outOfRange, _): self = .returned(.failure)
    case .forced: self = .forced
    case .crashed, .lost: self = .killed
    }
  }
}

extension RunOutcome {
  init(_ outcome: TaskModel.RunOutcome) {
    switch outcome {
    case .succeeded: self = .succeeded
    case .noop: self = .noop
    case .snoozed: self = .snoozed
    case .retried: self = .retried
    case .failed: self = .failed
    case .expired: self = .expired
    case .cancelled: self = .cancelled
    case .stopped: self = .stopped
    case .crashed, .lost: self = .crashed
    }
  }
}

extension RunReport {
  /// What the run has set so far.
  mutating func take(_ report: TaskModel.RunReport) {
    message = report.message
    output = report.output.isEmpty ? nil : report.output
    spans = report.spans.map {
      MeasuredSpan(name: $0.name, attributes: String(decoding: $0.attributes, as: UTF8.self), hasFailed: $0.hasFailed)
    }
  }
}

extension WorkCounts {
  init(_ work: RunWork) {
    self.init(
      attempted: work.itemsAttempted, completed: work.itemsCompleted, failed: work.itemsFailed, bytesIn: work.bytesIn,
      bytesOut: work.bytesOut)
  }
}

extension LogLine {
  init(_ line: TaskModel.LogLine, at time: Duration) {
    let level: Logger.Level =
      switch line.level {
      case .trace: .trace
      case .debug: .debug
      case .info: .info
      case .notice: .notice
      case .warning: .warning
      case .error: .error
      }
    self.init(time: time, level: level, message: line.message)
  }
}

extension HostedRequest.State {
  init(_ state: RequestState) {
    switch state {
    case .blocked: self = .blocked
    case .pending, .claimed: self = .pending
    case .running: self = .running
    case .succeeded: self = .succeeded
    case .failed: self = .failed
    case .cancelled: self = .cancelled
    }
  }
}

extension TestHostError {
  init(_ refusal: RequestRefusal) {
    self = refusal.code == .notFound || refusal.code == .unknownIdentifier ? .nothingThere(refusal.message) : .notPossible(refusal.message)
  }

  init(_ failure: LaunchFailure) {
    let status: CallFailure.Status =
      switch failure.step {
      case .registeredTwice, .identifierTaken: .exists
      case .notPermitted: .notPermitted
      case .timeout, .crashed: .unavailable
      case .load, .registration, .note, .status: .invalid
      }
    // Only the sentence names the status that the launch function returned.
    let returned = failure.observed.split(separator: " ").dropFirst(2).first.flatMap { Int32($0.prefix { $0 != ":" }) }
    let code = failure.step == .status ? returned ?? status.rawValue : status.rawValue
    self = .launchRefused(status: code, reason: failure.observed)
  }
}
