import BackgroundTasks
import OSLog
import SwiftUI
import os

private let logger = Logger(subsystem: "test.apple.store", category: "sync")

/// An app with SwiftUI's life cycle and Apple's logging, as it is written for iOS 26.
@main
struct StoreApp: App {
  var body: some Scene {
    WindowGroup {
      ContentView()
    }
    .backgroundTask(.appRefresh("test.apple.store")) {
      await Store.shared.refresh(user: "Anna")
    }
  }
}

final class Store: Sendable {
  static let shared = Store()
  private let refreshes = OSAllocatedUnfairLock(initialState: 0)

  func refresh(user: String) async {
    let count = refreshes.withLock { count in
      count += 1
      return count
    }
    logger.info("refresh \(count) for \(user) of \(user, privacy: .public)")
    os_log("%{public}@ has %d items", log: OSLog(subsystem: "test.apple.store", category: "old"), type: .info, user, 3)
    await withCheckedContinuation { continuation in
      ProcessInfo.processInfo.performExpiringActivity(withReason: "saving") { isExpired in
        logger.notice("saving, expired: \(isExpired)")
        if !isExpired { continuation.resume() }
      }
    }
    let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.test.apple")
    let file = container?.appendingPathComponent("store.txt")
    do {
      guard let file else { throw CocoaError(.fileNoSuchFile) }
      try Data("saved".utf8).write(to: file, options: .atomic)
    } catch {
      logger.error("not saved: \(error.localizedDescription, privacy: .public)")
    }
  }
}

/// The push handler of an app delegate.
final class PushDelegate {
  func application(
    didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler done: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    done(userInfo.isEmpty ? .noData : .newData)
  }
}
