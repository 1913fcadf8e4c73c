public import Foundation
import Synchronization

/// One file of a background session. Usable from any thread.
public class BackgroundURLSessionTask: @unchecked Sendable {  // reason: what changes is guarded by `mutable`
  /// Apple's states.
  public enum State: Int, Sendable {
    /// It is handed to the host when the run ends, or proceeds there.
    case running
    /// It has not been resumed, or is held back.
    case suspended
    /// It is being cancelled.
    case canceling
    /// It has ended.
    case completed
  }

  struct Mutable {
    var state = State.suspended
    var description: String?
    var earliestBegin: Date?
    var priority: Float = 0.5
    /// The host's request, once it has one.
    var transfer: String?
    var statusCode: Int?
  }

  /// Different for each task of the session, also in later launches. The numbers of a launch begin anywhere up to 2^40.
  public let taskIdentifier: Int
  /// What it asks the server for.
  public let originalRequest: BackgroundURLRequest?
  let file: URL?
  let session: BackgroundURLSession
  let mutable = Mutex(Mutable())

  init(_ session: BackgroundURLSession, _ identifier: Int, _ request: BackgroundURLRequest, file: URL?) {
    self.session = session
    taskIdentifier = identifier
    originalRequest = request
    self.file = file
  }

  /// What the task is doing.
  public var state: State { mutable.withLock { $0.state } }
  /// The app's name for it, which the host keeps.
  public var taskDescription: String? {
    get { mutable.withLock { $0.description } }
    set { mutable.withLock { $0.description = newValue } }
  }
  /// Not before; `nil`: at once. Counts until the task is handed to the host.
  public var earliestBeginDate: Date? {
    get { mutable.withLock { $0.earliestBegin } }
    set { mutable.withLock { $0.earliestBegin = newValue } }
  }
  /// 0 to 1. Counts until the task is handed to the host.
  public var priority: Float {
    get { mutable.withLock { $0.priority } }
    set { mutable.withLock { $0.priority = newValue } }
  }
  /// The status of the server's last answer, once the task has ended; `nil` if unknown. A download that was interrupted ends with 206.
  public var statusCode: Int? { mutable.withLock { $0.statusCode } }

  /// Begins the task, or lets it go on. All tasks that are resumed in one run are handed to the host together when the run ends.
  public func resume() { session.transfers.resume(self) }
  /// Holds the task back; what has arrived is kept. Once the host has it, this holds all tasks that were handed to it together.
  public func suspend() { session.transfers.suspend(self) }
  /// Cancels the task. Once the host has it, this cancels all tasks that were handed to it together.
  public func cancel() { session.transfers.cancel(self) }
}

/// A download to a file.
public final class BackgroundURLSessionDownloadTask: BackgroundURLSessionTask, @unchecked Sendable {}
/// An upload of a file.
public final class BackgroundURLSessionUploadTask: BackgroundURLSessionTask, @unchecked Sendable {}
