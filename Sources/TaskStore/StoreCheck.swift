import Glibc
import HostThreads

/// Reads the whole database once after a launch, on a thread of its own with the least priority, some pages at a time, and compares each with
/// its checksum. Nothing waits for it, and it holds no transaction.
public final class StoreCheck: Sendable {
  /// How far it is.
  public enum Result: Sendable, Hashable {
    /// It goes on.
    case checking
    /// All pages are as they were written; how many.
    case whole(pages: Int)
    /// These pages, the first of them, are not as they were written; how many in all.
    case damaged(pages: [UInt32], count: Int)
    /// It could not be done.
    case impossible(String)
  }

  /// Pages that are read before others have their turn.
  private static let slice: UInt32 = 64
  /// How long it rests after each: at most 25 MB/s of pages of 4 KiB.
  private static let rest: UInt32 = 10_000
  private static let named = 8

  private let state = Guarded((result: Result.checking, isOver: false))

  /// What is known so far.
  public var result: Result { state.withLock { $0.result } }

  /// Begins.
  ///
  /// - Parameter done: Called once on its thread, with the result; not after ``stop()``.
  init(_ sums: PageSums?, done: @escaping @Sendable (Result) -> Void) {
    guard let sums else {
      end(.impossible("its checksums cannot be kept"), done)
      return
    }
    do {
      try HostThread.start("store-check") { [self] in
        // Of this thread alone, as Linux has it.
        _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, 19)
        run(sums, done)
      }
    } catch { end(.impossible("\(error)"), done) }
  }

  /// Ends it soon. Returns at once.
  func stop() { state.withLock { $0.isOver = true } }

  private func run(_ sums: PageSums, _ done: @Sendable (Result) -> Void) {
    var damaged: [UInt32] = []
    var (page, count): (UInt32, Int) = (1, 0)
    while true {
      if page % Self.slice == 0 {
        guard !state.withLock({ $0.isOver }) else { return }
        usleep(Self.rest)
      }
      switch sums.check(page) {
      case .good: break
      case .damaged:
        count += 1
        if damaged.count < Self.named { damaged.append(page) }
      case .end:
        return end(count == 0 ? .whole(pages: Int(page) - 1) : .damaged(pages: damaged, count: count), done)
      }
      page += 1
    }
  }

  private func end(_ result: Result, _ done: @Sendable (Result) -> Void) {
    let isOver = state.withLock { state in
      state.result = result
      return state.isOver
    }
    if !isOver { done(result) }
  }
}
