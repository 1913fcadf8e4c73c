// As it is written for iOS.

import BackgroundTasks
import Foundation

/// A wrapper of the scheduler, so that tests have their own: @Sendable handlers, boxes for what is not Sendable on iOS.
protocol Scheduling: AnyObject {
  func register(forTaskWithIdentifier identifier: String, handler: @escaping @Sendable (any RunnableTask) -> Void)
  func submit(_ request: BGTaskRequest) throws
  func cancel(taskRequestWithIdentifier identifier: String)
}

protocol RunnableTask: AnyObject {
  var identifier: String { get }
  var expirationHandler: (() -> Void)? { get set }
  func setTaskCompleted(success: Bool)
}

extension BGTask: RunnableTask {}

final class SystemScheduler: Scheduling {
  func register(forTaskWithIdentifier identifier: String, handler: @escaping @Sendable (any RunnableTask) -> Void) {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
      handler(task)
    }
  }

  func submit(_ request: BGTaskRequest) throws {
    try BGTaskScheduler.shared.submit(request)
  }

  func cancel(taskRequestWithIdentifier identifier: String) {
    BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: identifier)
  }
}

final class WrappedTasks {
  static let identifier = "test.field.wrapped"

  private let scheduler: Scheduling

  init(scheduler: Scheduling) {
    self.scheduler = scheduler
  }

  func register() {
    scheduler.register(forTaskWithIdentifier: Self.identifier) { task in
      let box = TaskBox(task: task)
      let completion = Completion()
      box.task.expirationHandler = {
        completion.once { box.task.setTaskCompleted(success: false) }
      }
      Task { @MainActor in
        completion.once { box.task.setTaskCompleted(success: box.task.identifier == Self.identifier) }
      }
    }
  }

  private final class TaskBox: @unchecked Sendable {
    let task: any RunnableTask

    init(task: any RunnableTask) {
      self.task = task
    }
  }

  private final class Completion: @unchecked Sendable {
    private let lock = NSLock()
    private var isDone = false

    func once(_ body: () -> Void) {
      lock.lock()
      defer { lock.unlock() }
      guard !isDone else { return }
      isDone = true
      body()
    }
  }
}
