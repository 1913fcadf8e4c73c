// As it is written for iOS.

import BackgroundTasks
import Foundation

/// Submits off the main thread and only what is not pending yet; looks at the error as an NSError; blocks its queue on a semaphore.
public enum BackupJob {
  /// Also in the Info.plist of the iOS app.
  public static let identifier = "test.field.backup"
  private static let queue = DispatchQueue(label: "test.field.backup", qos: .utility)

  static func register() {
    let isRegistered = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: queue) { task in
      task.expirationHandler = {
        task.setTaskCompleted(success: false)
      }
      let done = DispatchSemaphore(value: 0)
      nonisolated(unsafe) var written = 0
      upload { count in
        written = count
        done.signal()
      }
      done.wait()
      scheduleUnlessPending()
      task.setTaskCompleted(success: written == 3)
    }
    if !isRegistered { print("\(identifier) was registered before") }
  }

  static func scheduleUnlessPending() {
    BGTaskScheduler.shared.getPendingTaskRequests { requests in
      guard !requests.contains(where: { $0.identifier == identifier }) else { return }
      DispatchQueue.global().async { submit() }
    }
  }

  private static func submit() {
    let request = BGProcessingTaskRequest(identifier: identifier)
    request.requiresExternalPower = true
    request.requiresNetworkConnectivity = true
    request.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 60)
    do {
      try BGTaskScheduler.shared.submit(request)
    } catch {
      let errorCode = (error as NSError).code
      switch errorCode {
      case BGTaskScheduler.Error.Code.notPermitted.rawValue: print("not permitted")
      case BGTaskScheduler.Error.Code.tooManyPendingTaskRequests.rawValue: print("too many")
      case BGTaskScheduler.Error.Code.unavailable.rawValue: print("unavailable")
      default: print("unknown: \(errorCode)")
      }
    }
  }

  private static func upload(completion: @escaping @Sendable (Int) -> Void) {
    DispatchQueue.global().async { completion(3) }
  }
}
