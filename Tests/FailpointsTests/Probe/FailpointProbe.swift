import Failpoints
import Foundation
import Glibc

/// Hits points in a process of its own, in which the environment may have armed one: `failpoint-probe NAME COUNT [THREADS]` hits the point
/// NAME that many times, in each of so many threads, and all other points before each time. Its exit status is 3 if it lives to the end.
@main
struct FailpointProbe {
  static func main() throws {
    let words = CommandLine.arguments
    guard words.count >= 3, let point = Failpoint(rawValue: words[1]), let count = Int(words[2]) else {
      print("usage: failpoint-probe NAME COUNT [THREADS]")
      exit(64)
    }
    try FailpointTrigger.armFromEnvironment()
    let others = Failpoint.allCases.filter { $0 != point }
    guard words.count > 3, let threads = Int(words[3]) else {
      hit(point, count, others)
      exit(3)
    }
    for _ in 1...threads { Thread.detachNewThread { hit(point, count, others) } }
    while true { pause() }
  }

  private static func hit(_ point: Failpoint, _ count: Int, _ others: [Failpoint]) {
    for _ in 0..<count {
      for other in others { other.hit() }
      point.hit()
    }
  }
}
