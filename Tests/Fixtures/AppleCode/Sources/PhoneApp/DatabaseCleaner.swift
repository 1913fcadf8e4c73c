// swift-format-ignore-file: NeverForceUnwrap
// As it is written for iOS.

import BackgroundTasks
import Foundation

/// A struct of static functions with a queue of its own; synchronous work that looks at a flag; the next request after completion.
enum DatabaseCleaner {
  static let identifier = "test.apple.database.clean"
  private static let workQueue = DispatchQueue(label: "test.apple.database")

  static func register() {
    let registered = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: workQueue) { task in
      dispatchPrecondition(condition: .onQueue(workQueue))
      guard let task = task as? BGProcessingTask else {
        task.setTaskCompleted(success: false)
        return
      }
      clean(task)
    }
    assert(registered)
  }

  static func schedule() throws {
    let request = BGProcessingTaskRequest(identifier: identifier)
    request.requiresNetworkConnectivity = true
    request.requiresExternalPower = true
    request.earliestBeginDate = Calendar.current.date(byAdding: .hour, value: 1, to: Date())
    try BGTaskScheduler.shared.submit(request)
  }

  private static func clean(_ task: BGProcessingTask) {
    let flag = CancellationFlag()
    task.expirationHandler = { flag.isCancelled = true }
    for _ in 0..<10 where !flag.isCancelled {
      Thread.sleep(forTimeInterval: 0.001)
    }
    task.setTaskCompleted(success: !flag.isCancelled)
    try? schedule()
  }
}

final class CancellationFlag: @unchecked Sendable {
  private let lock = NSLock()
  private var value = false

  var isCancelled: Bool {
    get { lock.withLock { value } }
    set { lock.withLock { value = newValue } }
  }
}
