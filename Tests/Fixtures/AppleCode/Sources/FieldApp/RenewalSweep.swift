// As it is written for iOS.

import BackgroundTasks
import Foundation

/// Static functions of the main actor, the main queue, and a second Swift task that awaits the first.
enum RenewalSweep {
  @MainActor
  static func registerTask(store: RenewalStore) {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: "test.field.renewal", using: .main) { task in
      guard let processingTask = task as? BGProcessingTask else { return }
      let renewTask = Task {
        await store.renewExpiringSoon()
      }
      processingTask.expirationHandler = {
        renewTask.cancel()
      }
      Task {
        let renewed = await renewTask.value
        processingTask.setTaskCompleted(success: renewed > 0 && !renewTask.isCancelled)
        schedule()
      }
    }
  }

  static func schedule() {
    let request = BGProcessingTaskRequest(identifier: "test.field.renewal")
    request.requiresNetworkConnectivity = true
    request.requiresExternalPower = false
    request.earliestBeginDate = Calendar.current.startOfDay(for: .now).addingTimeInterval(36 * 60 * 60)
    do {
      try BGTaskScheduler.shared.submit(request)
    } catch BGTaskScheduler.Error.notPermitted, BGTaskScheduler.Error.unavailable {
      print("background tasks are off")
    } catch {
      print("not scheduled: \(error.localizedDescription)")
    }
  }
}

@MainActor
final class RenewalStore {
  private var renewed = 0

  func renewExpiringSoon() async -> Int {
    try? await Task.sleep(nanoseconds: 1_000_000)
    renewed += 1
    return renewed
  }
}
