import FoundationEssentials
import TaskHostSDK

/// The host of a real run, through the SDK.
struct TaskContextHost: RefreshHost {
  let task: TaskContext<RefreshPayload>

  var now: Date { task.now }

  var remaining: Duration { task.remaining }

  var grace: Duration { task.grace }

  func log(_ level: Logger.Level, _ message: String) {
    task.logger.log(level: level, "\(message)")
  }

  func progress(_ completed: Int, of total: Int) {
    task.progress(UInt64(max(0, completed)), of: UInt64(max(0, total)))
  }

  func state(_ key: String) throws -> [UInt8]? {
    try task.state.get(key)
  }

  func setState(_ key: String, _ value: [UInt8]?) throws {
    if let value {
      try task.state.set(key, value)
    } else {
      try task.state.remove(key)
    }
  }
}
