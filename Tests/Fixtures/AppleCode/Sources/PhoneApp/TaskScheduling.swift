// swift-format-ignore-file: NeverForceUnwrap
// As it is written for iOS.

import BackgroundTasks
import Foundation

/// Code that is tested with a scheduler of its own: protocols to which Apple's types are made to conform.
protocol TaskScheduling {
  func register(forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void) -> Bool
  func submit(_ taskRequest: BGTaskRequest) throws
  func cancel(taskRequestWithIdentifier identifier: String)
  func getPendingTaskRequests(completionHandler: @escaping @Sendable ([BGTaskRequest]) -> Void)
}

extension BGTaskScheduler: TaskScheduling {}

protocol CompletableTask: AnyObject {
  var expirationHandler: (() -> Void)? { get set }
  func setTaskCompleted(success: Bool)
}

extension BGTask: CompletableTask {}

final class HealthStudy {
  static let identifier = "test.apple.study"

  private let scheduler: any TaskScheduling

  init(scheduler: any TaskScheduling = BGTaskScheduler.shared) {
    self.scheduler = scheduler
  }

  func register() {
    _ = scheduler.register(forTaskWithIdentifier: Self.identifier, using: .global(qos: .utility)) { task in
      Self.handle(task, isResearch: task is BGHealthResearchTask)
    }
    scheduler.getPendingTaskRequests { requests in
      print("pending:", requests.map(\.identifier))
    }
  }

  func schedule() throws {
    let request = BGHealthResearchTaskRequest(identifier: Self.identifier)
    request.protectionTypeOfRequiredData = .complete
    request.requiresNetworkConnectivity = true
    let copy = request.copy() as! BGHealthResearchTaskRequest
    copy.earliestBeginDate = .now
    try scheduler.submit(copy)
  }

  func unschedule() {
    scheduler.cancel(taskRequestWithIdentifier: Self.identifier)
  }

  private static func handle(_ task: any CompletableTask, isResearch: Bool) {
    task.expirationHandler = nil
    Task.detached { [task = UncheckedBox(task)] in
      let pending = await BGTaskScheduler.shared.pendingTaskRequests()
      let isGone = !pending.contains { $0.identifier == Self.identifier }
      task.value.setTaskCompleted(success: isResearch && isGone)
    }
  }
}

struct UncheckedBox<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
