import TaskModel
import Testing

@testable import HostConditions

@Suite("Settling") struct SettlingTests {
  /// A machine that leans so at each second: `+` to holding, `-` to being lost, `.` to neither, `?` nobody knows, a blank: not read.
  /// Answers with what the condition comes to at each second: `1` holds, `0` does not.
  private func run(_ settling: Settling, _ leanings: String) -> String {
    var settling = settling
    var held = ""
    for (second, sign) in leanings.enumerated() {
      let now = MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)
      switch sign {
      case "+": settling.observe(.holds, at: now)
      case "-": settling.observe(.lost, at: now)
      case ".": settling.observe(.neither, at: now)
      case "?": settling.observe(.unknown, at: now)
      default: break
      }
      held += settling.holds ? "1" : "0"
    }
    return held
  }

  @Test(
    "network: up for two seconds to hold, gone for one to be lost",
    arguments: [
      ("++++", "1111"),  // the first reading decides
      ("----", "0000"),
      ("-+++", "0001"),
      ("-++-++-", "0000000"),  // never up for two seconds
      ("-++-+++", "0000001"),
      ("-+ +", "0001"),  // what is not read in between counts as having stayed
      ("+-+", "111"),  // gone for less than a second, as far as was seen
      ("+--+", "1100"),
      ("+--+++", "110001"),
      ("?-", "11"), ("?--", "110"),  // unknown holds at once
      ("-?", "01"),
    ])
  func network(_ leanings: String, _ held: String) {
    #expect(run(Settling(holdsAfter: .seconds(2), lostAfter: .seconds(1)), leanings) == held)
  }

  @Test(
    "idle: has to be earned from the first reading, lost when busy for long enough",
    arguments: [
      ("++++", "0001"),
      ("....", "0000"),
      ("++.+++", "000000"),  // a reading between the thresholds begins the time anew
      ("++.++++", "0000001"),
      ("++++-.--", "00011111"),  // busy for a moment only, twice
      ("++++---", "0001110"),
      ("++++......", "0001111111"),
      ("+-+-+-+-", "00000000"),
    ])
  func idle(_ leanings: String, _ held: String) {
    #expect(run(Settling(holdsAfter: .seconds(3), lostAfter: .seconds(2), first: .startsLost), leanings) == held)
  }

  @Test(
    "levels: without a time it follows at once, and between the thresholds stays as it is",
    arguments: [("+.-.+", "11001"), (".-", "10"), ("-..+", "0001"), ("..", "11")])
  func levels(_ leanings: String, _ held: String) {
    #expect(run(Settling(holdsAfter: .zero, lostAfter: .zero), leanings) == held)
  }

  @Test("it says when it will change, and does not put that off while the machine goes on leaning so") func settlesAt() {
    var settling = Settling(holdsAfter: .seconds(5), lostAfter: .zero)
    func at(_ second: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: second * 1_000_000_000) }
    settling.observe(.lost, at: at(0))
    #expect(settling.settlesAt == nil)
    settling.observe(.holds, at: at(10))
    #expect(settling.settlesAt == at(15))
    settling.observe(.holds, at: at(12))
    #expect(settling.settlesAt == at(15))
    settling.observe(.holds, at: at(15))
    #expect(settling.holds)
    #expect(settling.settlesAt == nil)
  }
}
