import Dispatch
import Foundation

/// Tells whether code runs on the main queue. The thread alone does not tell: a worker serves the queue on its main thread, but a host that
/// loads the plugin may not.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether `queue` is the main queue. Identity does not tell, because each use of `DispatchQueue.main` creates an object.
  static func isMain(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: key) == true }

  /// Whether the caller is on the main queue, or on the process's first thread.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true || Thread.isMainThread }
}
