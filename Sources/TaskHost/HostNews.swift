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

/// Passes news on to who watches. A reader that lags loses the oldest.
final class NewsDesk: Sendable {
  private struct Readers {
    var next = 0
    var all: [Int: (request: RequestID?, continuation: AsyncStream<HostNews>.Continuation)] = [:]
    var isOver = false
  }

  private let readers = Mutex(Readers())
  /// Told when the first reader comes and when the last one goes.
  private let onInterest: @Sendable (Bool) -> Void

  init(onInterest: @escaping @Sendable (Bool) -> Void) { self.onInterest = onInterest }

  func subscribe(to request: RequestID?) -> AsyncStream<HostNews> {
    let (stream, continuation) = AsyncStream.makeStream(of: HostNews.self, bufferingPolicy: .bufferingNewest(10_000))
    let number = readers.withLock { readers -> Int? in
      guard !readers.isOver else { return nil }
      readers.next += 1
      readers.all[readers.next] = (request, continuation)
      if readers.all.count == 1 { onInterest(true) }
      return readers.next
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  func publish(_ news: HostNews) {
    let interested = readers.withLock { readers in
      readers.all.isEmpty ? [] : readers.all.values.filter { $0.request == nil || $0.request == news.request }.map(\.continuation)
    }
    for continuation in interested { continuation.yield(news) }
  }

  /// Ends every stream.
  func close() {
    let all = readers.withLock { readers in
      readers.isOver = true
      return readers.all.values.map(\.continuation)
    }
    for continuation in all { continuation.finish() }
  }

  private func remove(_ number: Int) {
    readers.withLock { readers in
      if readers.all.removeValue(forKey: number) != nil, readers.all.isEmpty { onInterest(false) }
    }
  }
}
