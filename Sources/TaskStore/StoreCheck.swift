import Glibc
import HostThreads

/// Reads the whole database once after a launch and compares each page with its checksum. Runs on its own thread with the lowest priority,
/// reads a few pages at a time, holds no transaction, and keeps nothing waiting.
public final class StoreCheck: Sendable {
  /// The progress or result of the check.
  public enum Result: Sendable, Hashable {
    /// The check is in progress.
    case checking
    /// All pages are intact. The value is their number.
    case whole(pages: Int)
    /// Some pages are damaged: the first of them, and the number of all.
    case damaged(pages: [UInt32], count: Int)
    /// The check is impossible: the reason, and what to do.
    case impossible(String, remedy: String)
  }

  /// The number of pages to read before resting.
  private static let slice: UInt32 = 64
  /// The rest after each slice in microseconds: at most 25 MB/s with pages of 4 KiB.
  private static let rest: UInt32 = 10_000

  /// The number of pages after which new checksums are written.
  private static let kept: UInt32 = 16_384

  private let state = Guarded((result: Result.checking, isOver: false))

  /// The result so far.
  public var result: Result { state.withLock { $0.result } }

  /// Starts the check.
  ///
  /// - Parameter done: Called once with the result, on the check's thread. Not called after ``stop()``.
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
        // On Linux this applies to the calling thread only.
        _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, 19)
        run(known, done)
      }
    } catch { end(.impossible("\(error)", remedy: "give the host more threads, and restart it"), done) }
  }

  /// Ends the check soon. Returns immediately.
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
    // Includes what checkpoints and earlier hosts found.
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
