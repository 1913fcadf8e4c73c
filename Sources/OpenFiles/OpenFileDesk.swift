import HostThreads
public import TaskModel

/// Answers questions about open files one by one, on a thread that exists only while there are any.
///
/// A scan of all processes takes time however few files are asked about, so scans are limited: there is one thread, which rests after each
/// scan for as long as the scan took, and few questions may wait.
public final class OpenFileDesk: Sendable {
  /// Over all plugins; each question may take a few megabytes.
  private let desk = JobDesk<TaskIdentifier>("open-files", mostWaiting: 16, mostOfOne: 4)

  /// Creates a desk without questions.
  public init() {}

  /// Takes a question and returns at once. `completion` runs on another thread, or on this one with `limit` or `unavailable`.
  ///
  /// - Parameters:
  ///   - asker: The first identifier of the asking plugin: plugins take turns, and none may use all places.
  ///   - directory: An absolute path; the caller has checked that `asker` may use it.
  public func ask(
    _ files: [FileQuestion], in directory: String, by asker: TaskIdentifier,
    completion: @escaping @Sendable (Result<[FileUse], CallFailure>) -> Void
  ) {
    let isTaken = desk.take(from: asker) {
      var look = Duration.zero
      completion(Result { () throws(CallFailure) in try OpenFileLook.answer(files, in: directory) { look = $0 } })
      return look
    } failed: {
      completion(.failure(CallFailure(.unavailable, $0.description)))
    }
    if !isTaken { completion(.failure(CallFailure(.limit, "too many questions about open files wait for an answer: ask again later"))) }
  }
}
