public import Foundation

/// What a background session tells, with the method names of Apple's delegates. Called on the session's delegate queue.
public protocol BackgroundURLSessionDelegate: AnyObject, Sendable {
  /// A download is whole. Move the file before this returns; then it is removed.
  func urlSession(
    _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask, didFinishDownloadingTo location: URL)
  /// A task has ended.
  ///
  /// - Parameter error: `nil` if it succeeded. Unlike on iOS, a status other than 2xx is an error (`URLError.badServerResponse`).
  func urlSession(_ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?)
  /// All tasks that were submitted together have ended, and the delegate has been told of each.
  func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession)
}

/// Apple's name of the part with `task`.
public typealias BackgroundURLSessionTaskDelegate = BackgroundURLSessionDelegate
/// Apple's name of the part with `downloadTask`.
public typealias BackgroundURLSessionDownloadDelegate = BackgroundURLSessionDelegate

extension BackgroundURLSessionDelegate {
  /// Lets the file be removed.
  public func urlSession(
    _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {}
  /// Does nothing.
  public func urlSession(_ session: BackgroundURLSession, task: BackgroundURLSessionTask, didCompleteWithError error: (any Error)?) {}
  /// Does nothing.
  public func urlSessionDidFinishEvents(forBackgroundURLSession session: BackgroundURLSession) {}
}
