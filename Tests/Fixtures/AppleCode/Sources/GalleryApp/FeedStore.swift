// As it is written for iOS.

import Foundation
import os

/// What the app remembers. Saving must not be interrupted.
final class FeedStore: @unchecked Sendable {
  static let shared = FeedStore()
  private let lock = NSLock()

  /// Appends a line to the journal, while an expiring activity keeps the app from being ended.
  func note(_ line: String) {
    let saved = DispatchSemaphore(value: 0)
    ProcessInfo.processInfo.performExpiringActivity(withReason: "saving the journal") { [lock] hasExpired in
      guard !hasExpired else {
        saved.signal()
        return
      }
      lock.withLock { Self.append(line) }
      saved.signal()
    }
    saved.wait()
  }

  private static func append(_ line: String) {
    let file = URL.documents.appending(path: "journal.txt")
    try? FileManager.default.createDirectory(at: .documents, withIntermediateDirectories: true)
    let before = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    try? (before + line + "\n").write(to: file, atomically: true, encoding: .utf8)
  }
}
