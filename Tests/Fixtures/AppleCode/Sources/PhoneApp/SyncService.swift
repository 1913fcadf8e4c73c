// swift-format-ignore-file: NeverForceUnwrap
// As it is written for iOS.

import BackgroundTasks
import Foundation

/// Handles with async functions: a Swift task that the expiration handler cancels.
actor SyncService {
  static let shared = SyncService()
  static let identifier = "test.apple.sync"

  private(set) var runs = 0

  nonisolated func register() {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.identifier, using: nil) { task in
      let work = Task {
        do {
          try await self.sync()
          task.setTaskCompleted(success: true)
        } catch {
          task.setTaskCompleted(success: false)
        }
      }
      task.expirationHandler = {
        work.cancel()
      }
    }
  }

  nonisolated func schedule() {
    do {
      try BGTaskScheduler.shared.submit(BGProcessingTaskRequest(identifier: Self.identifier))
    } catch BGTaskScheduler.Error.notPermitted {
      print("not permitted")
    } catch BGTaskScheduler.Error.tooManyPendingTaskRequests {
      print("too many")
    } catch let error as BGTaskScheduler.Error where error.code == .unavailable {
      print("unavailable")
    } catch {
      print((error as NSError).code, error.localizedDescription)
    }
  }

  private func sync() async throws {
    runs += 1
    try await Task.sleep(nanoseconds: 10_000_000)
    await ExportController.shared.startExport()
  }
}
