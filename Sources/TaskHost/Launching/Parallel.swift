import Glibc
import HostThreads

/// Parallel work on a list, on as many threads as there are processors, but at least two.
enum Parallel {
  private final class Work<Element: Sendable, Value: Sendable>: @unchecked Sendable {  // reason: touched with `monitor` held
    let monitor = Monitor()
    var next = 0
    var running = 0
    var values: [Value?]
    init(_ count: Int) { values = Array(repeating: nil, count: count) }
  }

  /// Keeps the order of the elements. Works on new threads and the calling one.
  static func map<Element: Sendable, Value: Sendable>(
    _ elements: [Element], _ transform: @escaping @Sendable (Element) -> Value
  ) -> [Value] {
    let work = Work<Element, Value>(elements.count)
    // Takes several elements at a time, so that short work does not contend for the lock.
    let share = max(1, min(16, elements.count / 16))
    let take: @Sendable () -> Range<Int>? = {
      work.monitor.locked {
        guard work.next < elements.count else { return nil }
        let part = work.next..<min(elements.count, work.next + share)
        work.next = part.upperBound
        return part
      }
    }
    let serve: @Sendable () -> Void = {
      while let part = take() {
        let values = part.map { transform(elements[$0]) }
        work.monitor.locked { for (index, value) in zip(part, values) { work.values[index] = value } }
      }
    }
    let helpers = min(elements.count, max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) - 1
    for _ in 0..<max(0, helpers) {
      work.monitor.locked { work.running += 1 }
      let isStarted =
        (try? HostThread.start("launching") {
          serve()
          work.monitor.locked {
            work.running -= 1
            work.monitor.broadcast()
          }
        }) != nil
      if !isStarted { work.monitor.locked { work.running -= 1 } }
    }
    serve()
    return work.monitor.locked {
      while work.running > 0 { work.monitor.wait() }
      return work.values.compactMap { $0 }
    }
  }
}
