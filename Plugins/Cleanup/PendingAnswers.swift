internal import Glibc
internal import TaskHostSDK

/// Asks about open files on a separate thread while the sweep continues.
final class PendingAnswers {
  typealias Ask = (String, [FileReference]) -> [FileUse]

  let askedAt = ContinuousClock.now
  private let inquiry: Inquiry
  /// nil after it has ended, or if none could be started.
  private var thread: pthread_t?

  // reason: only the thread uses it until it is joined; then only the owner does
  private final class Inquiry: @unchecked Sendable {
    let questions: [FileReference]
    let directory: String
    let ask: Ask
    var answers: [FileUse]?
    var cameAt = ContinuousClock.now

    init(_ questions: [FileReference], _ directory: String, _ ask: @escaping Ask) {
      self.questions = questions
      self.directory = directory
      self.ask = ask
    }
  }

  init(to questions: [FileReference], in directory: String, _ ask: @escaping Ask) {
    inquiry = Inquiry(questions, directory, ask)
    let lent = Unmanaged.passRetained(inquiry)
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { pointer in
        guard let pointer else { return nil }
        let inquiry = Unmanaged<Inquiry>.fromOpaque(pointer).takeRetainedValue()
        inquiry.answers = inquiry.ask(inquiry.directory, inquiry.questions)
        inquiry.cameAt = .now
        return nil
      }, lent.toOpaque())
    if code == 0 {
      self.thread = thread
    } else {
      lent.release()
    }
  }

  deinit { join() }

  /// Waits for the answers. Asks on this thread if no other could be started.
  func wait() -> (answers: [FileUse], cameAt: ContinuousClock.Instant) {
    join()
    if let answers = inquiry.answers { return (answers, inquiry.cameAt) }
    let answers = inquiry.ask(inquiry.directory, inquiry.questions)
    inquiry.answers = answers
    inquiry.cameAt = .now
    return (answers, inquiry.cameAt)
  }

  private func join() {
    guard let thread else { return }
    pthread_join(thread, nil)
    self.thread = nil
  }
}
