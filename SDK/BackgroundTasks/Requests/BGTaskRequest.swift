public import Foundation
import Synchronization

/// What to run, and when; the base class of all requests. Create one of its subclasses.
///
/// Submitting copies the request: later changes have no effect. Usable from any thread. `@unchecked Sendable`: a lock guards what changes,
/// in the subclasses too.
open class BGTaskRequest: NSObject, NSCopying, @unchecked Sendable {
  /// The task identifier of a registered launch handler: 1 to 128 of `A-Z a-z 0-9 . _ -`, the first a letter or digit.
  public let identifier: String

  private let earliest: Mutex<Date?>

  /// The earliest start, on the host's wall clock; `nil`, the default, leaves it to the host. The run may start later.
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

  var type: BackgroundTasksPlugin.Kind { .processing }

  /// `TASKHOST_REQUIRES_` bits.
  var conditions: UInt32 { 0 }

  /// The payload, which tells the run which task to create.
  var record: RequestDetails { RequestDetails(type: type) }
}
