import TaskModel

/// The notices of one `[[notify]]` that wait to be told: of each subject the newest, and each subject at most once in its
/// ``Notice/interval``. Bounded.
struct PendingNotices {
  /// The most subjects that wait; beyond that, progress gives way first.
  static let most = 256

  /// What to do now.
  enum Next: Equatable {
    case tell(Notice)
    case wait(until: MonotonicTime)
    /// Nothing waits.
    case nothing
  }

  private var waiting: [Notice] = []
  /// When the subjects that go on were last told of.
  private var told: [String: MonotonicTime] = [:]
  /// Notices that were given up.
  private(set) var dropped = 0

  mutating func add(_ notice: Notice) {
    if let index = waiting.firstIndex(where: { $0.subject == notice.subject }) {
      waiting[index] = notice
      return
    }
    if waiting.count >= Self.most {
      dropped += 1
      // The end of a run is told rather than its progress.
      guard let index = waiting.firstIndex(where: { !$0.isFinal }) ?? (notice.isFinal ? waiting.indices.first : nil) else { return }
      waiting.remove(at: index)
    }
    waiting.append(notice)
  }

  mutating func next(at now: MonotonicTime) -> Next {
    func moment(_ notice: Notice) -> MonotonicTime { told[notice.subject].map { $0 + notice.interval } ?? now }
    if let index = waiting.firstIndex(where: { moment($0) <= now }) {
      let notice = waiting.remove(at: index)
      // What was dropped leaves its subject here: such subjects are forgotten together.
      if told.count > 4 * Self.most { told = [:] }
      told[notice.subject] = notice.isFinal && notice.event != .store ? nil : now
      return .tell(notice)
    }
    return waiting.map(moment).min().map { .wait(until: $0) } ?? .nothing
  }
}
