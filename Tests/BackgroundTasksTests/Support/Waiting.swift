import Dispatch
import Foundation

/// Blocks a thread of the app's, as a launch handler that works synchronously does, until a test lets it go on.
///
/// `@unchecked Sendable`: a semaphore is usable from any thread.
final class Waiting: @unchecked Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  /// Waits on a thread of the app's.
  func block() { semaphore.wait() }
  /// Lets one who waits, or will wait, go on.
  func release() { semaphore.signal() }
}
