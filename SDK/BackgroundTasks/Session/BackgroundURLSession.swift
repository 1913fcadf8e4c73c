public import Foundation
import Synchronization

/// Transfers that go on while no run of the plugin is live: `URLSession` with a background configuration, by another name, because the
/// name is Foundation's, whose background sessions do not exist on Linux.
///
/// ```swift
/// let configuration = BackgroundURLSessionConfiguration.background(withIdentifier: "photos")
/// let session = BackgroundURLSession(configuration: configuration, delegate: self, delegateQueue: nil)
/// session.downloadTask(with: url).resume()
/// ```
///
/// Create the session while launching, so that it is there when the host launches a run with its events. Needs `may_transfer = true` in the
/// plugin's configuration.
public final class BackgroundURLSession: Sendable {
  let copy: BackgroundURLSessionConfiguration.Copy
  let transfers: SessionTransfers
  let queue: OperationQueue
  /// The last task's number. An app may keep numbers over launches, while the host has tasks of earlier ones: each object begins elsewhere.
  private let number = Mutex(Int.random(in: 0..<1 << 40))
  /// As on iOS, the session keeps its delegate.
  let delegate: (any BackgroundURLSessionDelegate)?

  /// Creates a session, or another object for one of an earlier launch.
  ///
  /// - Parameter delegateQueue: Where the delegate is called; `nil`: on a serial queue.
  public convenience init(
    configuration: BackgroundURLSessionConfiguration, delegate: (any BackgroundURLSessionDelegate)? = nil,
    delegateQueue: OperationQueue? = nil
  ) {
    self.init(configuration, delegate, delegateQueue, BGTaskScheduler.shared.core.transfers)
  }

  init(
    _ configuration: BackgroundURLSessionConfiguration, _ delegate: (any BackgroundURLSessionDelegate)?, _ queue: OperationQueue?,
    _ transfers: SessionTransfers
  ) {
    copy = configuration.copy
    self.delegate = delegate
    self.transfers = transfers
    if let queue {
      self.queue = queue
    } else {
      self.queue = OperationQueue()
      self.queue.maxConcurrentOperationCount = 1
    }
    transfers.add(self)
  }

  /// The session's name.
  public var identifier: String { copy.identifier }

  /// A download, which begins with ``BackgroundURLSessionTask/resume()``.
  public func downloadTask(with url: URL) -> BackgroundURLSessionDownloadTask { downloadTask(with: BackgroundURLRequest(url: url)) }

  /// A download, which begins with ``BackgroundURLSessionTask/resume()``.
  public func downloadTask(with request: BackgroundURLRequest) -> BackgroundURLSessionDownloadTask {
    BackgroundURLSessionDownloadTask(self, nextNumber(), request, file: nil)
  }

  /// An upload, which begins with ``BackgroundURLSessionTask/resume()``. The file must not be changed meanwhile.
  public func uploadTask(with request: BackgroundURLRequest, fromFile file: URL) -> BackgroundURLSessionUploadTask {
    BackgroundURLSessionUploadTask(self, nextNumber(), request, file: file)
  }

  /// Tells the session's tasks that have not ended, also those of earlier launches, on the delegate's queue. Only while a run of the plugin
  /// is live; otherwise those of this run.
  public func getAllTasks(completionHandler: @escaping @Sendable ([BackgroundURLSessionTask]) -> Void) {
    let tasks = transfers.tasks(of: self)
    queue.addOperation { completionHandler(tasks) }
  }

  /// As ``getAllTasks(completionHandler:)``.
  public var allTasks: [BackgroundURLSessionTask] { get async { transfers.tasks(of: self) } }

  /// Cancels all tasks, and forgets the session.
  public func invalidateAndCancel() {
    for task in transfers.tasks(of: self) { task.cancel() }
    transfers.remove(self)
  }

  /// Forgets the session. Its tasks go on; an object for it in a later launch is told of them.
  public func finishTasksAndInvalidate() { transfers.remove(self) }

  func nextNumber() -> Int {
    number.withLock { number in
      number += 1
      return number
    }
  }

  /// A task of an earlier run or launch.
  func task(_ context: TransferContext, url: String, isDownload: Bool) -> BackgroundURLSessionTask {
    var request = URL(string: url).map { BackgroundURLRequest(url: $0) } ?? BackgroundURLRequest(url: URL(filePath: "/"))
    request.httpMethod = nil
    let task =
      isDownload
      ? BackgroundURLSessionDownloadTask(self, context.task, request, file: nil)
      : BackgroundURLSessionUploadTask(self, context.task, request, file: nil)
    task.taskDescription = context.description
    return task
  }
}

/// What the host keeps for a task.
struct TransferContext: Codable {
  let session: String
  let task: Int
  let description: String?
}
