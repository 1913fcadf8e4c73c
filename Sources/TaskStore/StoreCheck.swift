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
    /// It could not be done: why, and what to do.
    case impossible(String, remedy: String)
  }

  /// Pages that are read before others have their turn.
  private static let slice: UInt32 = 64
  /// How long it rests after each: at most 25 MB/s of pages of 4 KiB.
  private static let rest: UInt32 = 10_000

  /// Pages after which the checksums of those that had none are kept.
  private static let kept: UInt32 = 16_384

  private let state = Guarded((result: Result.checking, isOver: false))

  /// What is known so far.
  public var result: Result { state.withLock { $0.result } }

  /// Begins.
  ///
  /// - Parameter done: Called once on its thread, with the result; not after ``stop()``.
  init(_ sums: Swift.Result<PageSums, PageSums.Unavailable>, done: @escaping @Sendable (Result) -> Void) {
    let known: PageSums
    switch sums {
    case .success(let sums): known = sums
    case .failure(let failure):
      end(.impossible("its checksums cannot be kept (\(failure.reason))", remedy: failure.remedy), done)
      return
    }
    do {
      try HostThread.start("store-check") { [self] in
        // Of this thread alone, as Linux has it.
        _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, 19)
        run(known, done)
      }
    } catch { end(.impossible("\(error)", remedy: "give the host more threads, and restart it"), done) }
  }

  /// Ends it soon. Returns at once.
  func stop() { state.withLock { $0.isOver = true } }

  private func run(_ sums: PageSums, _ done: @Sendable (Result) -> Void) {
    var page: UInt32 = 1
    while true {
      if page % Self.slice == 0 {
        guard !state.withLock({ $0.isOver }) else { return }
        usleep(Self.rest)
      }
      if page % Self.kept == 0 { sums.settle() }
      guard sums.look(at: page) else { break }
      page += 1
    }
    sums.end(before: page)
    sums.settle()
    // Checkpoints and hosts before have found some too.
    let damage = sums.damage
    end(damage.count == 0 ? .whole(pages: Int(page) - 1) : Result(damage), done)
  }

  private func end(_ result: Result, _ done: @Sendable (Result) -> Void) {
    let isOver = state.withLock { state in
      state.result = result
      return state.isOver
    }
    if !isOver { done(result) }
  }
}

extension StoreCheck.Result {
  init(_ damage: PageSums.Damage) { self = .damaged(pages: damage.pages, count: damage.count) }
}
