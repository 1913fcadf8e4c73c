// As it is written for iOS.

import BackgroundTasks
import Foundation

/// An actor with nonisolated entry points; async lists and submissions; a task group that the expiration handler cancels.
actor SyncCoordinator {
  static let shared = SyncCoordinator()
  static let identifier = "test.field.sync"

  private var lastSync: Date?
  private var activeTask: Task<Void, Never>?

  nonisolated func register() {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.identifier, using: nil) { task in
      task.expirationHandler = {
        Task { await self.cancel() }
      }
      Task { await self.handle(task) }
    }
  }

  func scheduleIfNeeded() async {
    let pending = await BGTaskScheduler.shared.pendingTaskRequests()
    guard pending.first(where: { $0.identifier == Self.identifier }) == nil else { return }
    let request = BGProcessingTaskRequest(identifier: Self.identifier)
    request.requiresNetworkConnectivity = true
    request.earliestBeginDate = (lastSync ?? .now).advanced(by: 4 * 60 * 60)
    do {
      try await BGTaskScheduler.shared.submitTaskRequest(request)
    } catch {
      print("not scheduled: \(error)")
    }
  }

  private func handle(_ task: BGTask) async {
    await scheduleIfNeeded()
    let work = Task {
      await withTaskGroup(of: Int.self) { group in
        for item in 0..<4 {
          group.addTask { await Self.download(item) }
        }
        var sum = 0
        for await item in group { sum += item }
        lastSync = sum == 6 ? .now : nil
      }
    }
    activeTask = work
    await work.value
    activeTask = nil
    task.setTaskCompleted(success: lastSync != nil && !work.isCancelled)
  }

  private func cancel() {
    activeTask?.cancel()
  }

  private static func download(_ item: Int) async -> Int {
    await Task.yield()
    return item
  }
}
