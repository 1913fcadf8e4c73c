// As it is written for iOS.

import BackgroundTasks
import Foundation

/// A class of the main actor that keeps the task in a property, hops to its actor in the handler, and works with completion handlers.
@MainActor
final class PollingService: NSObject {
  static let shared = PollingService()
  nonisolated static let identifier = "test.field.polling"

  private var currentTask: BGTask?
  private var timer: DispatchSourceTimer?

  func register() {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.identifier, using: nil) { [weak self] task in
      Task { @MainActor in
        self?.begin(task)
      }
    }
  }

  private func begin(_ task: BGTask) {
    currentTask = task
    task.expirationHandler = { [weak self] in
      Task { @MainActor in
        self?.timer?.cancel()
        self?.finish(success: false)
      }
    }
    poll { [weak self] hasNews in
      guard let self else { return task.setTaskCompleted(success: false) }
      NotificationCenter.default.post(name: .polled, object: self, userInfo: ["news": hasNews])
      self.finish(success: true)
    }
  }

  private func finish(success: Bool) {
    schedule()
    currentTask?.setTaskCompleted(success: success)
    currentTask?.expirationHandler = nil
    currentTask = nil
  }

  private func poll(completion: @escaping @MainActor (Bool) -> Void) {
    let timer = DispatchSource.makeTimerSource(queue: .main)
    timer.schedule(deadline: .now() + .milliseconds(2))
    timer.setEventHandler {
      MainActor.assumeIsolated { completion(true) }
    }
    timer.resume()
    self.timer = timer
  }

  nonisolated func schedule() {
    let request = BGProcessingTaskRequest(identifier: Self.identifier)
    request.earliestBeginDate = .init(timeIntervalSinceNow: 60)
    do {
      try BGTaskScheduler.shared.submit(request)
    } catch let error as BGTaskScheduler.Error where error.code == .tooManyPendingTaskRequests {
      BGTaskScheduler.shared.cancelAllTaskRequests()
    } catch let error as NSError {
      print(error.domain, error.code, error.userInfo)
    }
  }
}

extension Notification.Name {
  static let polled = Notification.Name("test.field.polled")
}
