public import Foundation
import Synchronization

/// What is to be run and from when on: the part that all kinds of requests have in common. Made through one of its subclasses.
///
/// A request is copied when it is submitted: changing it afterwards changes nothing. Usable from any thread.
/// `@unchecked Sendable`: what changes is behind a lock, in the subclasses too.
open class BGTaskRequest: NSObject, NSCopying, @unchecked Sendable {
  /// The task identifier, one that a launch handler was registered for: 1 to 128 of `A-Z a-z 0-9 . _ -`, the first a letter or digit.
  public let identifier: String

  private let earliest: Mutex<Date?>

  /// Not before this moment, by the host's wall clock; `nil`, the default: as soon as its conditions hold. A hint, never a promise.
  open var earliestBeginDate: Date? {
    get { earliest.withLock { $0 } }
    set { earliest.withLock { $0 = newValue } }
  }

  init(identifier: String, earliestBeginDate: Date? = nil) {
    self.identifier = identifier
    earliest = Mutex(earliestBeginDate)
    super.init()
  }

  /// A copy that shares nothing with this request.
  ///
  /// - Parameter zone: Not used.
  open func copy(with zone: NSZone? = nil) -> Any { duplicate() }

  func duplicate() -> BGTaskRequest { BGTaskRequest(identifier: identifier, earliestBeginDate: earliestBeginDate) }

  /// What the request's class stands for.
  var type: BackgroundTasksPlugin.Kind { .processing }

  /// `TASKHOST_REQUIRES_` bits.
  var conditions: UInt32 { 0 }

  /// What travels as the request's payload, for the run to know which task to make.
  var record: RequestRecord { RequestRecord(type: type) }
}
