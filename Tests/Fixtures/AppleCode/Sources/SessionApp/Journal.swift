// As it is written for iOS.

import Foundation

/// What the app has seen, line by line in its Documents folder.
final class Journal: Sendable {
  static let shared = Journal()
  private let lock = NSLock()
  private let file = URL.documents.appending(path: "journal.txt")

  var lines: [String] {
    lock.withLock { ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init) }
  }

  func note(_ line: String) {
    lock.withLock {
      try? FileManager.default.createDirectory(at: .documents, withIntermediateDirectories: true)
      let before = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
      try? (before + line + "\n").write(to: file, atomically: true, encoding: .utf8)
    }
  }
}

extension URL {
  static var documents: URL { URL(filePath: NSHomeDirectory()).appending(path: "Documents") }
}
