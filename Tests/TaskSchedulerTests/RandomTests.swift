import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Any sequence of events") struct RandomTests {
  @Test("keeps the scheduler's promises", arguments: [UInt64(1), 20_261_121])
  func promises(_ seed: UInt64) throws {
    var walk = try RandomWalk(seed: seed)
    for _ in 0..<2500 { try walk.step() }
    try walk.settleAll()
  }
}
