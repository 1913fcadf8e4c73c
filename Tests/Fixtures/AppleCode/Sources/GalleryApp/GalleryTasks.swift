// As it is written for iOS.

import BackgroundTasks
import Foundation

/// The app's background tasks: the feed is refreshed, and old photos are removed while the device charges.
final class GalleryTasks: @unchecked Sendable {
  static let shared = GalleryTasks()
  static let refreshIdentifier = "test.apple.gallery.refresh"
  static let cleanupIdentifier = "test.apple.gallery.cleanup"

  func register() {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.refreshIdentifier, using: nil) { task in
      self.refresh(task)
    }
    BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.cleanupIdentifier, using: nil) { task in
      self.cleanUp(task)
    }
    PhotoLoader.shared.connect()
  }

  private func refresh(_ task: BGTask) {
    schedule()
    PhotoLoader.shared.load(photos)
    FeedStore.shared.note("the feed is refreshed")
    task.setTaskCompleted(success: true)
  }

  private func cleanUp(_ task: BGTask) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: PhotoLoader.shared.folder.path)) ?? []
    for name in names where name.hasSuffix(".old") {
      try? FileManager.default.removeItem(at: PhotoLoader.shared.folder.appending(path: name))
    }
    FeedStore.shared.note("\(names.count) photos were looked at")
    task.setTaskCompleted(success: true)
  }

  private func schedule() {
    let request = BGAppRefreshTaskRequest(identifier: Self.refreshIdentifier)
    request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
    try? BGTaskScheduler.shared.submit(request)
    let cleanup = BGProcessingTaskRequest(identifier: Self.cleanupIdentifier)
    cleanup.requiresExternalPower = true
    cleanup.earliestBeginDate = Date(timeIntervalSinceNow: 7200)
    try? BGTaskScheduler.shared.submit(cleanup)
  }

  /// What the feed names: 50 photos, one of them large.
  private var photos: [URL] {
    let server = ProcessInfo.processInfo.environment["GALLERY_SERVER"] ?? "http://127.0.0.1:1"
    return (0..<50).compactMap { URL(string: "\(server)/photo\($0)?size=\(20_000 + $0)" + ($0 == 7 ? "&hold=10000" : "")) }
  }
}
