// swift-format-ignore-file: NeverForceUnwrap
// As it is written for iOS.

import BackgroundTasks
import Foundation

/// A class of the main actor whose handlers are its methods.
@MainActor
final class AppDelegate: NSObject {
  static let identifier = "test.apple.delegate"

  private var completed = 0

  func application(didFinishLaunchingWithOptions options: [String: Any]? = nil) -> Bool {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.identifier, using: nil) { task in
      self.handleAppRefresh(task: task as! BGAppRefreshTask)
    }
    scheduleAppRefresh()
    return true
  }

  func scheduleAppRefresh() {
    let request = BGAppRefreshTaskRequest(identifier: Self.identifier)
    try? BGTaskScheduler.shared.submit(request)
  }

  private func handleAppRefresh(task: BGAppRefreshTask) {
    let work = Task {
      await refresh()
      MainActor.assertIsolated()
      completed += 1
      task.setTaskCompleted(success: true)
    }
    task.expirationHandler = {
      self.completed = 0
      work.cancel()
    }
  }

  private nonisolated func refresh() async {
    try? await Task.sleep(nanoseconds: 1_000_000)
  }
}
