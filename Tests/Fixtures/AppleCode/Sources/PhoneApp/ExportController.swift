// swift-format-ignore-file: NeverForceUnwrap
// As it is written for iOS.

import BackgroundTasks
import Foundation

/// Work that a person starts, as since iOS 26: registered when it is needed, under an identifier that a wildcard covers, with progress.
@MainActor
final class ExportController {
  static let shared = ExportController()
  static let prefix = "test.apple.export"

  private var count = 0

  func startExport() {
    count += 1
    let identifier = "\(Self.prefix).number\(count)"
    let registered = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: .main) { [weak self] task in
      guard let self, let task = task as? BGContinuedProcessingTask else { return }
      self.export(task)
    }
    guard registered else { return }

    let request = BGContinuedProcessingTaskRequest(identifier: identifier, title: "Export", subtitle: "About to begin")
    request.strategy = .fail
    if BGTaskScheduler.supportedResources.contains(.gpu) {
      request.requiredResources = .gpu
    }
    do {
      try BGTaskScheduler.shared.submit(request)
    } catch {
      print("Could not submit: \(error)")
    }
  }

  private func export(_ task: BGContinuedProcessingTask) {
    let progress = task.progress
    progress.totalUnitCount = 10
    let work = Task { @MainActor in
      while !progress.isFinished, !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(1))
        progress.completedUnitCount += 1
        task.updateTitle(task.title, subtitle: "\(progress.completedUnitCount) of \(progress.totalUnitCount)")
      }
      task.setTaskCompleted(success: progress.isFinished)
    }
    task.expirationHandler = {
      work.cancel()
    }
  }
}
