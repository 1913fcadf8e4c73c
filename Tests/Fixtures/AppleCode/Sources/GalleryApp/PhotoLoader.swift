// As it is written for iOS, but for the three lines that name BackgroundURLSession instead of URLSession.

import BackgroundTasks
import Foundation
import os

/// Downloads the photos of the feed in a background session, and puts them into the Documents folder.
final class PhotoLoader: NSObject, BackgroundURLSessionDownloadDelegate, @unchecked Sendable {
  static let shared = PhotoLoader()
  static let sessionIdentifier = "test.apple.gallery.photos"

  private let logger = Logger(subsystem: "test.apple.gallery", category: "photos")
  private lazy var session = BackgroundURLSession(
    configuration: BackgroundURLSessionConfiguration.background(withIdentifier: Self.sessionIdentifier), delegate: self,
    delegateQueue: nil)

  var folder: URL { URL.documents.appending(path: "photos") }

  /// Creates the session, so that it gets the events of an earlier launch.
  func connect() { _ = session }

  func load(_ photos: [URL]) {
    for photo in photos {
      let task = session.downloadTask(with: photo)
      task.taskDescription = photo.lastPathComponent
      task.resume()
    }
    session.getAllTasks { [logger] tasks in logger.info("\(tasks.count) photos are to come") }
  }

  func urlSession(
    _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    guard let name = downloadTask.taskDescription else { return }
    let target = folder.appending(path: name)
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try? FileManager.default.removeItem(at: target)
      try FileManager.default.moveItem(at: location, to: target)
    } catch {
      logger.error("\(name) was not saved: \(error)")
    }
  }

  func urlSession(_ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?) {
    if let error { logger.error("\(task.taskDescription ?? "?"): \(error.localizedDescription)") }
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession) {
    FeedStore.shared.note("the photos are there")
  }
}

extension URL {
  static var documents: URL { URL(filePath: NSHomeDirectory()).appending(path: "Documents") }
}
