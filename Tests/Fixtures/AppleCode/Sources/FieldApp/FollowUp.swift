// swift-format-ignore-file: NeverForceUnwrap
// As it is written for iOS.

import BackgroundTasks
import Foundation

/// A Swift task in the handler, cancellation by `withTaskCancellationHandler`, the request made by an extension, the error by its code.
final class FollowUp: Sendable {
  static let shared = FollowUp()

  func register() {
    guard #available(iOS 13.0, *) else { return }
    BGTaskScheduler.shared.register(forTaskWithIdentifier: BGAppRefreshTaskRequest.followUpIdentifier, using: nil) { task in
      Task { await self.handle(task: task as! BGAppRefreshTask) }
    }
  }

  @available(iOS 13.0, *)
  func handle(task: BGAppRefreshTask) async {
    schedule()
    let work = Task.detached(priority: .utility) { () -> Bool in
      await withTaskCancellationHandler {
        (try? await Task.sleep(for: .milliseconds(2))) != nil
      } onCancel: {
        print("cancelled")
      }
    }
    task.expirationHandler = { work.cancel() }
    let success = await work.value
    task.setTaskCompleted(success: success)
  }

  @discardableResult
  func schedule() -> String {
    do {
      try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest.followUp(after: .init(60 * 60)))
      return "scheduled"
    } catch let error as BGTaskScheduler.Error {
      switch error.code {
      case .notPermitted: return "not permitted"
      case .tooManyPendingTaskRequests: return "too many"
      case .unavailable: return "unavailable"
      case .immediateRunIneligible: return "not at once"
      @unknown default: return "unknown: \(error.code.rawValue)"
      }
    } catch {
      return error.localizedDescription
    }
  }
}

extension BGAppRefreshTaskRequest {
  static let followUpIdentifier = "test.field.follow-up"

  static func followUp(after interval: TimeInterval) -> BGAppRefreshTaskRequest {
    let request = BGAppRefreshTaskRequest(identifier: followUpIdentifier)
    request.earliestBeginDate = Date().addingTimeInterval(interval)
    return request
  }
}
