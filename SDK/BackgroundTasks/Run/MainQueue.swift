import Dispatch
import Foundation

/// Whether code runs on the main queue. In a worker that queue is served by whichever thread is free, so the thread does not tell.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether `queue` is the main queue. Identity does not tell: each use of `DispatchQueue.main` makes an object.
  static func isMain(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: key) == true }

  /// Whether the caller is on the main queue, or on the process's first thread.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true || Thread.isMainThread }
}
