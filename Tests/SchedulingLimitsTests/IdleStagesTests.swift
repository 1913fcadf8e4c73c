import SchedulingLimits
import TaskModel
import Testing

@Suite("Idle stages")
struct IdleStagesTests {
  private static let minute: Int64 = 60_000

  @Test(
    "the windows of a machine that rests become rarer, as Android's do",
    arguments: [
      // Minutes of rest; the stage, whether a window is open, and when the next one opens.
      (0, nil, false, 0), (4, nil, false, 0), (5, .light, false, 10), (9, .light, false, 10), (10, .light, true, 10),
      (11, .light, false, 21), (21, .light, true, 21), (22, .light, false, 37), (37, .light, true, 37), (38, .light, false, 53),
      // The next would open in the other stage.
      (54, .light, false, 120), (59, .light, false, 120), (60, .deep, false, 120), (119, .deep, false, 120), (120, .deep, true, 120),
      (124, .deep, true, 124), (125, .deep, false, 245), (245, .deep, true, 245), (254, .deep, true, 254), (255, .deep, false, 495),
      (495, .deep, true, 495), (505, .deep, false, 865), (865, .deep, true, 865), (875, .deep, false, 1235), (1235, .deep, true, 1235),
      (865 + 370 * 1000, .deep, true, 865 + 370 * 1000), (875 + 370 * 1000, .deep, false, 1235 + 370 * 1000),
    ] as [(Int64, IdleStages.Stage?, Bool, Int64)])
  func schedule(_ rested: Int64, _ stage: IdleStages.Stage?, _ isWindow: Bool, _ opens: Int64) {
    let state = IdleStages().state(at: at(rested * Self.minute), restingSince: at(0))
    #expect(state?.stage == stage)
    guard let state else { return }
    #expect((state.isWindow, state.opens) == (isWindow, at(opens * Self.minute)))
  }

  @Test("what is said about the next window is true when it comes, to the millisecond, also with other times")
  func consistent() throws {
    var stages = IdleStages()
    (stages.lightAfter, stages.deepAfter) = (.seconds(7), .seconds(1234))
    var now: Int64 = 0
    while now < 4 * 86_400_000 {
      if let state = stages.state(at: at(now), restingSince: at(0)), !state.isWindow {
        #expect(state.opens > at(now))
        #expect(stages.state(at: state.opens, restingSince: at(0))?.isWindow == true)
        #expect(stages.state(at: state.opens + .milliseconds(-1), restingSince: at(0))?.isWindow == false)
      }
      now += 17_003
    }
  }

  @Test("at the ends of the calendar nothing overflows")
  func ends() {
    let (first, last) = (WallTime(unixMilliseconds: .min), WallTime.distantFuture)
    for (now, start) in [(first, last), (last, first), (first, first), (last, last)] {
      _ = IdleStages().state(at: now, restingSince: start)
    }
  }
}

@Suite("Profiles")
struct ThrottlingProfileTests {
  @Test("a server limits nothing; a phone limits run time, starts and wake-ups, with the numbers that are documented")
  func numbers() {
    #expect(ThrottlingProfile.server.quota == nil && ThrottlingProfile.server.rate == nil && ThrottlingProfile.server.eventQuota == nil)
    #expect(!ThrottlingProfile.server.hasIdleStages && ThrottlingProfile.phone.hasIdleStages)
    let quota = ThrottlingProfile.phone.quota.map { "\($0)" }
    #expect(quota == "active 20m/1h, working 10m/4h, frequent 10m/12h, rare 10m/1d, restricted 10m/1d")
    #expect(ThrottlingProfile.phone.rate.map { "\($0)" } == "20/1m")
    #expect(ThrottlingProfile.phone.eventQuota.map { "\($0)" } == "3/1h")
  }
}
