import DequeModule
import HostThreads
public import TaskModel

/// Answers questions about open files, in sequence, on a thread that exists while there are any.
///
/// A look through all processes costs the host time however few files are asked about, so it is bounded: after each the thread rests as
/// long as it took, there is one such thread, and few questions wait.
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
  /// Of all plugins together: each may be some megabytes.
  private static let mostWaiting = 16
  private static let mostWaitingOfOne = 4

  /// A desk without questions.
  public init() {}

  /// Takes a question and returns at once; `completion` is called on another thread, or on this one with `limit` or `unavailable`.
  ///
  /// - Parameters:
  ///   - asker: The asking identifier; no single one may use all places.
  ///   - directory: Absolute; the caller has checked that `asker` is entitled to it.
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
