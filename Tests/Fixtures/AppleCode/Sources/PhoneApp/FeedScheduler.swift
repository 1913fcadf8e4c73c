// swift-format-ignore-file: NeverForceUnwrap
// As it is written for iOS.

import BackgroundTasks
import Foundation

/// A shared singleton that registers in launch, handles with an OperationQueue and submits the next request inside the handler.
final class FeedScheduler: @unchecked Sendable {
  static let shared = FeedScheduler()

  static let refreshIdentifier = "test.apple.feed.refresh"

  private let queue: OperationQueue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    return queue
  }()

  func registerBackgroundTasks() {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.refreshIdentifier, using: nil) { task in
      self.handleAppRefresh(task: task as! BGAppRefreshTask)
    }
  }

  func scheduleAppRefresh() {
    let request = BGAppRefreshTaskRequest(identifier: Self.refreshIdentifier)
    request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
    do {
      try BGTaskScheduler.shared.submit(request)
    } catch {
      print("Could not schedule app refresh: \(error)")
    }
  }

  private func handleAppRefresh(task: BGAppRefreshTask) {
    scheduleAppRefresh()

    let operations = (0..<3).map { _ in BlockOperation { Thread.sleep(forTimeInterval: 0.01) } }
    let last = operations.last!
    for (first, second) in zip(operations, operations.dropFirst()) { second.addDependency(first) }

    task.expirationHandler = { [queue] in
      queue.cancelAllOperations()
    }
    last.completionBlock = { [weak last] in
      task.setTaskCompleted(success: !(last?.isCancelled ?? true))
    }
    queue.addOperations(operations, waitUntilFinished: false)
  }
}
