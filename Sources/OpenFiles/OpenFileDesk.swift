import DequeModule
import HostThreads
public import TaskModel

/// Answers questions about open files one by one, on a thread that exists only while there are any.
///
/// A scan of all processes takes time however few files are asked about, so scans are limited: there is one thread, which rests after each
/// scan for as long as the scan took, and few questions may wait.
public final class OpenFileDesk: Sendable {
  private struct Question {
    let asker: TaskIdentifier
    let files: [FileQuestion]
    let directory: String
    let completion: @Sendable (Result<[FileUse], CallFailure>) -> Void
  }

  private struct State {
    var waiting = Deque<Question>()
    var isServing = false
  }

  private let state = Guarded(State())
  /// Over all plugins; each question may take a few megabytes.
  private static let mostWaiting = 16
  private static let mostWaitingOfOne = 4

  /// Creates a desk without questions.
  public init() {}

  /// Takes a question and returns at once. `completion` runs on another thread, or on this one with `limit` or `unavailable`.
  ///
  /// - Parameters:
  ///   - asker: The asking identifier; no identifier may use all places.
  ///   - directory: An absolute path; the caller has checked that `asker` may use it.
  public func ask(
    _ files: [FileQuestion], in directory: String, by asker: TaskIdentifier,
    completion: @escaping @Sendable (Result<[FileUse], CallFailure>) -> Void
  ) {
    let question = Question(asker: asker, files: files, directory: directory, completion: completion)
    let (isTaken, starts) = state.withLock { state in
      let own = state.waiting.count { $0.asker == asker }
      guard state.waiting.count < Self.mostWaiting, own < Self.mostWaitingOfOne else { return (false, false) }
      state.waiting.append(question)
      defer { state.isServing = true }
      return (true, !state.isServing)
    }
    guard isTaken else {
      return completion(.failure(CallFailure(.limit, "too many questions about open files wait for an answer: ask again later")))
    }
    guard starts else { return }
    do throws(HostThread.Failure) { try HostThread.start("open-files") { [self] in serve() } } catch {
      let failure = CallFailure(.unavailable, error.description)
      let left = state.withLock { state in
        defer { state = State() }
        return Array(state.waiting)
      }
      for question in left { question.completion(.failure(failure)) }
    }
  }

  private func serve() {
    while let question = next() {
      var look = Duration.zero
      let answer = Result { () throws(CallFailure) in
        try OpenFileLook.answer(question.files, in: question.directory) { look = $0 }
      }
      question.completion(answer)
      rest(for: look)
    }
  }

  private func next() -> Question? {
    state.withLock { state in
      let question = state.waiting.popFirst()
      state.isServing = question != nil
      return question
    }
  }

  private func rest(for time: Duration) { _ = Guarded(()).wait(until: SystemClock.now + time) { _ -> Void? in nil } }
}
