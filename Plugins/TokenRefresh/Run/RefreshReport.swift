import FoundationEssentials
import TaskHostSDK

/// The result of a run: its accounts, its outcome, and a sentence for the operator.
struct RefreshReport: Sendable, Equatable {
  /// The wait for another process that is refreshing the same account; longer than a usual exchange.
  static let waitForOthers = Duration.seconds(15)

  /// The wait for another process whose token a caller waits for.
  static let waitForAnswer = Duration.seconds(1)

  /// In the order of the settings.
  let accounts: [AccountReport]

  var purpose = Purpose.refresh

  /// What a run is for, and so what its outcome says.
  enum Purpose: Sendable, Equatable {
    case refresh
    /// Its output is the answer to a caller, who decides what comes next. Other runs try again.
    case answer
    /// Nothing is tried, so nothing fails.
    case look
  }

  /// In a run that refreshes, the first that applies decides:
  ///
  /// 1. an account failed temporarily: retry, at the earliest time that such a server requested, otherwise after the host's backoff;
  /// 2. accounts were left over, or another process is refreshing one: snooze;
  /// 3. an account needs an operator, or all are signed out: failure;
  /// 4. an account was refreshed: success; otherwise noop.
  ///
  /// A signed-out account among healthy ones does not fail the run, but the message and the output of every run mention it.
  var outcome: TaskResult {
    switch purpose {
    case .look: return .noop
    case .answer: return has(.inProgress) ? .snooze(after: Self.waitForAnswer) : has(.refreshed) ? .success : .noop
    case .refresh: break
    }
    let troubled = accounts.filter { $0.result == .retry }
    if !troubled.isEmpty {
      let waits = troubled.compactMap(\.retryAfter)
      return .retry(after: waits.count == troubled.count ? waits.min() : nil)
    }
    if has(.skipped) { return .snooze(after: nil) }
    if has(.inProgress) { return .snooze(after: Self.waitForOthers) }
    if has(.failed) || (!accounts.isEmpty && accounts.allSatisfy { $0.result == .signedOut }) { return .failure }
    return has(.refreshed) ? .success : .noop
  }

  /// A sentence: how many accounts were refreshed, and each due account that was not, with the reason.
  var message: String {
    if accounts.isEmpty { return "no accounts are configured" }
    let refreshed = accounts.count { $0.result == .refreshed }
    let notDue = accounts.count { $0.result == .notDue }
    var parts = ["\(refreshed) of \(accounts.count) refreshed, \(notDue) not due"]
    for (result, words) in Self.words {
      for account in accounts where account.result == result {
        parts.append("\(account.name) \(words)" + (account.detail.map { ": \($0)" } ?? ""))
      }
    }
    return parts.joined(separator: "; ")
  }

  /// The run's output: `{"accounts": […]}` as JSON with sorted keys.
  ///
  /// - Parameter limit: The maximum number of bytes. A larger output loses its sentences, which are also in the run's log.
  func output(limit: Int) throws -> [UInt8] {
    let full = try JSONEncoder.sorted().encode(["accounts": accounts])
    if full.count <= limit { return Array(full) }
    return Array(try JSONEncoder.sorted().encode(["accounts": accounts.map { $0.with($0.result, nil) }]))
  }

  private static let words: [(AccountReport.Result, String)] = [
    (.failed, "failed"), (.signedOut, "is signed out"), (.retry, "will be tried again"), (.inProgress, "is being refreshed elsewhere"),
    (.skipped, "was left for the next run"), (.due, "is due"),
  ]

  private func has(_ result: AccountReport.Result) -> Bool {
    accounts.contains { $0.result == result }
  }
}
