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
