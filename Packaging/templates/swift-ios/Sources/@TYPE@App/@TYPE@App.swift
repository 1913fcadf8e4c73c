import BackgroundTasks
import OSLog
import SwiftUI

private let logger = Logger(subsystem: "@IDENTIFIER@", category: "background")

@main
struct @TYPE@App: App {
  var body: some Scene {
    WindowGroup { ContentView() }
      .backgroundTask(.appRefresh("@IDENTIFIER@")) {
        scheduleRefresh()
        await refresh()
      }
  }
}

/// Fetches what is new. When the run expires, its Swift task is cancelled: the loop ends, and the request is tried again.
func refresh() async {
  for page in 1...5 {
    guard !Task.isCancelled else { return logger.notice("stopped before page \(page)") }
    try? await Task.sleep(for: .milliseconds(10))
  }
  logger.info("refreshed, saving to \(FileManager.default.temporaryDirectory.path, privacy: .private)")
}

func scheduleRefresh() {
  let request = BGAppRefreshTaskRequest(identifier: "@IDENTIFIER@")
  request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
  submit(request)
}

/// Registered at launch.
func registerCleanup() {
  BGTaskScheduler.shared.register(forTaskWithIdentifier: "@IDENTIFIER@.cleanup", using: nil) { task in
    task.expirationHandler = { task.setTaskCompleted(success: false) }
    // A host that shuts down waits for this, for up to 30 s.
    ProcessInfo.processInfo.performExpiringActivity(withReason: "removing old files") { isExpired in
      if isExpired { logger.warning("no time to remove old files") }
      task.setTaskCompleted(success: !isExpired)
    }
  }
}

private func submit(_ request: BGTaskRequest) {
  do { try BGTaskScheduler.shared.submit(request) } catch { logger.error("not scheduled: \(error)") }
}
