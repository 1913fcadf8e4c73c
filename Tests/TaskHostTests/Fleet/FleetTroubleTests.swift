import FleetStore
import Testing

@testable import TaskHost

@Suite("Fleet: trouble with the database") struct FleetTroubleTests {
  private var trouble = FleetTrouble()

  @Test("the log says once that it begins, and that it ends if it has said so; since when is since the first failure")
  mutating func log() {
    var told = [trouble.end(), trouble.begin(.away("x"))]
    let since = trouble.since
    told += [trouble.begin(.away("y")), trouble.begin(.notInitialised)]
    #expect(since != nil && trouble.since == since && trouble.failure == .notInitialised)
    told.append(trouble.end())
    #expect(told == [false, true, false, true, true] && trouble.failure == nil && trouble.since == nil)
  }

  @Test("what another thread has told of is neither told of nor its end, unless it goes on when nobody else fails")
  mutating func quiet() {
    let told = [trouble.begin(.away("x"), tells: false), trouble.end()]
    #expect(told == [false, false])
    let later = [trouble.begin(.away("x"), tells: false), trouble.begin(.away("x")), trouble.end()]
    #expect(later == [false, true, true])
  }
}
