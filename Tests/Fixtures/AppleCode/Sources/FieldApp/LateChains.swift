// swift-format-ignore-file: NeverForceUnwrap
// As it is written for iOS.

import BackgroundTasks
import Foundation

/// Chains of requests that hang by a thread: submitted after the run, without a date, or by work that nobody completes.
final class LateChains: @unchecked Sendable {
  static let shared = LateChains()

  private let queue = OperationQueue()
  private var rounds = 0

  func register() {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: "test.field.late-chain", using: nil) { task in
      self.importAll(task as! BGProcessingTask)
    }
    BGTaskScheduler.shared.register(forTaskWithIdentifier: "test.field.endless", using: nil) { task in
      self.rounds += 1
      NSLog("endless round %d", self.rounds)
      let request = BGProcessingTaskRequest(identifier: "test.field.endless")
      do { try BGTaskScheduler.shared.submit(request) } catch { print("not scheduled: \(error)") }
      task.setTaskCompleted(success: true)
    }
    BGTaskScheduler.shared.register(forTaskWithIdentifier: "test.field.forgotten", using: nil) { task in
      task.expirationHandler = { print("forgotten") }
      DispatchQueue.global().async { print("working without the task") }
    }
  }

  /// An operation that is cancelled by the expiration handler, completes the task, tidies up, and only then thinks of the next time.
  private func importAll(_ task: BGProcessingTask) {
    let operation = ImportOperation()
    task.expirationHandler = { operation.cancel() }
    operation.completionBlock = {
      task.setTaskCompleted(success: !operation.isCancelled)
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) { self.schedule() }
    }
    queue.addOperation(operation)
    NSLog("the import has begun")
  }

  private func schedule() {
    let request = BGProcessingTaskRequest(identifier: "test.field.late-chain")
    request.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 60)
    do {
      try BGTaskScheduler.shared.submit(request)
      NSLog("the next import is scheduled")
    } catch {
      NSLog("the next import is not scheduled: \(error)")
    }
  }
}

private final class ImportOperation: Operation, @unchecked Sendable {
  override func main() {
    while !isCancelled { Thread.sleep(forTimeInterval: 0.005) }
  }
}
