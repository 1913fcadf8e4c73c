public import Foundation
import Synchronization

/// Asks for a run of minutes in a health research study; counts as a processing request.
open class BGHealthResearchTaskRequest: BGProcessingTaskRequest, @unchecked Sendable {  // reason: what changes is behind a lock
  private let protection = Mutex<FileProtectionType?>(nil)

  /// The protection of the files that the run needs. It is stored but not enforced, because files here have none. Default: `nil`.
  open var protectionTypeOfRequiredData: FileProtectionType? {
    get { protection.withLock { $0 } }
    set { protection.withLock { $0 = newValue } }
  }

  override func duplicate() -> BGTaskRequest {
    let copy = BGHealthResearchTaskRequest(identifier: identifier)
    copy.take(self)
    copy.protectionTypeOfRequiredData = protectionTypeOfRequiredData
    return copy
  }

  override var type: BackgroundTasksPlugin.Kind { .healthResearch }

  override var record: RequestDetails { RequestDetails(type: type, protection: protectionTypeOfRequiredData?.rawValue) }
}
