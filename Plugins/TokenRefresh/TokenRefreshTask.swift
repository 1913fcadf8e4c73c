import FoundationEssentials
import TaskHostSDK

/// The task `org.taskhost.token-refresh`: keeps OAuth 2.0 tokens in files fresh.
struct TokenRefreshTask: BackgroundTask {
  static let identifier = "org.taskhost.token-refresh"
  static let displayName: String? = "OAuth token refresh"
  static let version: String? = "1.0"

  /// The host's limit for an output in bytes: 64 KiB.
  private static let largestOutput = 65_536

  private let refresher: TokenRefresher
  private let plan: RunPlan

  init(_ launch: LaunchContext<TokenRefreshSettings>) throws {
    refresher = TokenRefresher(settings: launch.settings)
    plan = RunPlan(accounts: launch.settings.accounts)
    if let look = try plan.lookAtLaunch() { try launch.submit(look) }
  }

  func run(_ task: TaskContext<RefreshPayload>) async throws -> TaskResult {
    let report = await refresher.run(task.payload, host: task)
    task.setMessage(report.message)
    do {
      try task.setOutput(try report.output(limit: Self.largestOutput))
    } catch {
      // The tokens are refreshed, so a lost output must not make the host repeat the run.
      task.logger.warning("the output cannot be recorded: \(error)")
    }
    plan.arrange(after: report, task.payload, task)
    return report.outcome
  }
}

extension TaskContext: RefreshHost where Payload == RefreshPayload {
  func log(_ level: Logger.Level, _ message: String) { logger.log(level: level, "\(message)") }

  func progress(_ completed: Int, of total: Int) { progress(UInt64(max(0, completed)), of: UInt64(max(0, total))) }

  func state(_ key: String) throws -> [UInt8]? { try state.get(key) }

  func setState(_ key: String, _ value: [UInt8]?) throws {
    if let value { try state.set(key, value) } else { try state.remove(key) }
  }

  func raise(_ event: RefreshEvent, _ payload: RaisedPayload) throws { try notify(event.rawValue, json: payload) }
}
