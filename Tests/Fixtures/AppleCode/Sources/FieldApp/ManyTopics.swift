// As it is written for iOS.

import BackgroundTasks
import Foundation

/// One handler for many identifiers, which it tells apart by `task.identifier`.
enum ManyTopics {
  static let identifiers = (1...12).map { "test.field.topic.\($0)" }

  static func register() {
    let isRegistered = identifiers.map { identifier in
      BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: .global(qos: .background), launchHandler: handle)
    }
    assert(isRegistered.allSatisfy { $0 })
  }

  @Sendable
  private static func handle(_ task: BGTask) {
    switch task {
    case is BGContinuedProcessingTask, is BGHealthResearchTask:
      task.setTaskCompleted(success: false)
    default:
      let work = DispatchWorkItem { Thread.sleep(forTimeInterval: 0.02) }
      task.expirationHandler = work.cancel
      work.notify(queue: .global()) { task.setTaskCompleted(success: !work.isCancelled && identifiers.contains(task.identifier)) }
      DispatchQueue.global().async(execute: work)
    }
  }
}
