// swift-format-ignore-file: NeverForceUnwrap
// As it is written for iOS: forms that only have to compile.

import BackgroundTasks
import Foundation

final class Spellings: Sendable {
  static let shared = Spellings()

  func register() {
    let scheduler = BGTaskScheduler.shared
    scheduler.register(forTaskWithIdentifier: "test.apple.spelling.1", using: nil) { task in
      Task { task.setTaskCompleted(success: true) }
      var shouldContinue = true
      task.expirationHandler = { shouldContinue = false }
      while shouldContinue { break }
    }
    scheduler.register(forTaskWithIdentifier: "test.apple.spelling.2", using: DispatchQueue.global(), launchHandler: handle(_:))
    scheduler.register(forTaskWithIdentifier: "test.apple.spelling.3", using: .main) { [weak self] task in
      guard let self, let task = task as? BGContinuedProcessingTask else { return task.setTaskCompleted(success: false) }
      Task { @MainActor in
        for unit in 1...10 { task.progress.completedUnitCount = Int64(unit) }
        task.setTaskCompleted(success: !task.progress.isCancelled && self === Spellings.shared)
      }
    }
    let register = scheduler.register(forTaskWithIdentifier:using:launchHandler:)
    let registered: Bool = register("test.apple.spelling.4", nil) { self.handle($0) }
    print(registered)
  }

  private func handle(_ task: BGTask) {
    switch task {
    case let task as BGAppRefreshTask: task.setTaskCompleted(success: true)
    case is BGProcessingTask: task.setTaskCompleted(success: false)
    default: break
    }
  }

  func submit(_ request: BGTaskRequest) async {
    do {
      try BGTaskScheduler.shared.submit(request)
      try await BGTaskScheduler.shared.submitTaskRequest(request)
    } catch BGTaskScheduler.Error.unavailable, BGTaskScheduler.Error.immediateRunIneligible {
      print("later")
    } catch let error as NSError where error.domain == BGTaskScheduler.errorDomain {
      print(error.code == BGTaskScheduler.Error.Code.notPermitted.rawValue, error.localizedDescription)
    } catch {
      if let error = error as? BGTaskScheduler.Error, error.code == .tooManyPendingTaskRequests { print(error.errorUserInfo) }
    }
  }

  @MainActor
  func list() async {
    for request in await BGTaskScheduler.shared.pendingTaskRequests() { print(request.identifier, request.earliestBeginDate ?? .now) }
    BGTaskScheduler.shared.getPendingTaskRequests { requests in
      Task { @MainActor in print(requests.count) }
    }
  }
}
