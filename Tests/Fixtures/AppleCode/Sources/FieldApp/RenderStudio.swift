// swift-format-ignore-file: NeverForceUnwrap
// As it is written for iOS.

import BackgroundTasks
import Foundation

/// Continued tasks under identifiers made up at run time: the task in a property, progress in children, a graphics processor if there is one,
/// and the work done without a task where the system takes none.
@MainActor
final class RenderStudio {
  static let shared = RenderStudio()

  private var task: BGContinuedProcessingTask?
  private var identifier = ""

  func register() {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: "test.field.button", using: .main) { [weak self] task in
      // What a person's tap on a button is on iOS.
      self?.startRender()
      task.setTaskCompleted(success: true)
    }
  }

  func startRender() {
    guard #available(iOS 26.0, *) else { return }
    identifier = "test.field.render." + UUID().uuidString
    BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: .main) { task in
      guard let task = task as? BGContinuedProcessingTask else { return }
      var wasExpired = false
      task.expirationHandler = { wasExpired = true }
      Task { @MainActor in
        self.task = task
        await self.render(task)
        task.setTaskCompleted(success: !wasExpired && task.progress.isFinished)
        self.task = nil
      }
    }

    let request = BGContinuedProcessingTaskRequest(identifier: identifier, title: "Rendering", subtitle: "0 %")
    request.strategy = .fail
    if BGTaskScheduler.supportedResources.contains(.gpu) {
      request.requiredResources = .gpu
    }
    do {
      try BGTaskScheduler.shared.submit(request)
    } catch BGTaskScheduler.Error.immediateRunIneligible {
      request.strategy = .queue
      try? BGTaskScheduler.shared.submit(request)
    } catch {
      print("rendering in the foreground: \(error)")
    }
  }

  private func render(_ task: BGContinuedProcessingTask) async {
    task.progress.totalUnitCount = 2
    for part in 1...2 {
      let child = Progress(totalUnitCount: 5)
      task.progress.addChild(child, withPendingUnitCount: 1)
      for _ in 0..<5 {
        await Task.yield()
        child.completedUnitCount += 1
      }
      task.updateTitle("Rendering", subtitle: "part \(part), \(Int(task.progress.fractionCompleted * 100)) %")
    }
  }
}
