import TaskModel
import Testing

@Suite("Moments and durations") struct TimeTests {
  private static let ends: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

  /// The sum or difference in wider arithmetic, cut to the range.
  private static func cut(_ wide: Int128) -> Int64 { Int64(clamping: wide) }

  @Test("calendar moments stop at the ends of the range")
  func wall() {
    for left in Self.ends {
      for right in Self.ends {
        #expect((WallTime(unixMilliseconds: left) + .milliseconds(right)).unixMilliseconds == Self.cut(Int128(left) + Int128(right)))
        let difference = WallTime(unixMilliseconds: left) - WallTime(unixMilliseconds: right)
        #expect(difference == .milliseconds(Self.cut(Int128(left) - Int128(right))))
      }
    }
    #expect((WallTime(unixMilliseconds: 0) + .seconds(Int64.max)).unixMilliseconds == .max)
    #expect((WallTime(unixMilliseconds: 0) + .seconds(Int64.min)).unixMilliseconds == .min)
  }

  @Test("moments of the monotonic clock stop at the ends of the range")
  func monotonic() {
    for left in Self.ends {
      for right in Self.ends {
        #expect((MonotonicTime(nanoseconds: left) + .nanoseconds(right)).nanoseconds == Self.cut(Int128(left) + Int128(right)))
        let difference = MonotonicTime(nanoseconds: left) - MonotonicTime(nanoseconds: right)
        #expect(difference == .nanoseconds(Self.cut(Int128(left) - Int128(right))))
      }
    }
    #expect(MonotonicTime(nanoseconds: 1) + .seconds(Int64.max) == .distantFuture)
  }

  @Test("sums, differences, products and quotients of durations stop at the ends of the range")
  func durations() {
    let (least, most) = (Duration(attoseconds: .min), Duration(attoseconds: .max))
    #expect(most + .nanoseconds(1) == most)
    #expect(least + .nanoseconds(-1) == least)
    #expect(least - .nanoseconds(1) == least)
    #expect(most - .nanoseconds(-1) == most)
    #expect(.zero - least == most)
    let longest = Duration.seconds(Int64.max)
    #expect(longest * Int64.max == most)
    #expect(longest * -8_000_000_000 == least)
    #expect(.seconds(Int64.min) * UInt64.max == least)
    #expect(least / -1 == most)
    #expect(.seconds(1) / 0 == most)
    #expect(.seconds(-1) / 0 == least)
    #expect(Duration.zero / 0 == .zero)
    var duration = most
    duration += .seconds(1)
    duration *= 2
    #expect(duration == most)
    duration -= .seconds(1)
    duration /= 2
    #expect(duration < most)
    #expect(.seconds(3) + .milliseconds(5) == .milliseconds(3005))
    #expect(.milliseconds(5) * 3 - .milliseconds(1) == .milliseconds(14))
    #expect(.milliseconds(-5) / 2 == .microseconds(-2500))
    #expect([Duration.seconds(1), most].reduce(.zero, +) == most)
  }

  @Test("whole numbers stop at the ends of the range", arguments: ends)
  func numbers(_ left: Int64) {
    for right in Self.ends {
      #expect(left.adding(saturating: right) == Self.cut(Int128(left) + Int128(right)))
      #expect(left.subtracting(saturating: right) == Self.cut(Int128(left) - Int128(right)))
      #expect(left.multiplied(saturatingBy: right) == Self.cut(Int128(left) * Int128(right)))
      if right != 0 { #expect(left.divided(saturatingBy: right) == Self.cut(Int128(left) / Int128(right))) }
    }
  }

  @Test("the rank of a request is a number whatever is due and however urgent it is", arguments: ends)
  func rank(_ due: Int64) {
    for priority in [Int.min, -10, 0, 10, Int.max] {
      let offer = DueRequest(
        id: RequestID(sequence: 1, origin: 1), due: WallTime(unixMilliseconds: due), priority: priority, attemptsSpent: 0,
        isRepeating: false)
      #expect(offer.rank <= Int64.max)
    }
  }

  /// A duration, its whole milliseconds and its whole nanoseconds.
  private static let cuts: [(Duration, Int64, Int64)] = [
    (.nanoseconds(1_999_999), 1, 1_999_999), (.nanoseconds(-1_999_999), -1, -1_999_999), (.zero, 0, 0),
    (.seconds(Int64.max), .max, .max), (.seconds(Int64.min), .min, .min), (.seconds(10_000_000_000), 10_000_000_000_000, .max),
    (.milliseconds(Int64.max), .max, .max), (.milliseconds(Int64.min), .min, .min), (.nanoseconds(Int64.max), 9_223_372_036_854, .max),
  ]

  @Test("durations are cut towards zero and stop at the ends of the range", arguments: cuts)
  func units(_ duration: Duration, _ milliseconds: Int64, _ nanoseconds: Int64) {
    #expect(duration.wholeMilliseconds == milliseconds)
    #expect(duration.wholeNanoseconds == nanoseconds)
  }
}
