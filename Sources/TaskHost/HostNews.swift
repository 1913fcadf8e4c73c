import Synchronization
public import TaskModel

/// Something that happened in the host, for who watches.
public enum HostNews: Sendable, Hashable {
  /// A request is now as given.
  case request(RequestRecord)
  /// A run started (no outcome) or ended.
  case run(RunRecord)
  /// A run reported progress.
  case progress(RunReference, RunProgress)
  /// A run wrote a line.
  case log(RunReference, LogLine)

  /// The request it is about.
  public var request: RequestID {
    switch self {
    case .request(let record): record.id
    case .run(let record): record.request
    case .progress(let run, _), .log(let run, _): run.request
    }
  }
}

/// Passes news on to who observes the host.
final class NewsDesk: Sendable {
  /// In a struct: a lock around a bare function would wrap it once more at each access.
  private struct Observer: Sendable {
    let tell: @Sendable (HostNews) -> Void
  }

  private let observer = Mutex<Observer?>(nil)
  /// Told when there is an observer, and when there is none any more.
  private let onInterest: @Sendable (Bool) -> Void

  init(onInterest: @escaping @Sendable (Bool) -> Void) { self.onInterest = onInterest }

  func set(_ new: (@Sendable (HostNews) -> Void)?) {
    observer.withLock { observer in
      if (observer == nil) != (new == nil) { onInterest(new != nil) }
      observer = new.map(Observer.init)
    }
  }

  func publish(_ news: @autoclosure () -> HostNews) {
    guard let observer = observer.withLock({ $0 }) else { return }
    observer.tell(news())
  }
}
