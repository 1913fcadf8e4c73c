import SchedulingLimits
import TaskModel
import Testing

@Suite("Rates")
struct RateTests {
  @Test(
    "a rate is read and written back",
    arguments: [
      ("100/1m", 100, 60, "100/1m"), ("5/10s", 5, 10, "5/10s"), ("60/1h", 60, 3600, "60/1h"), ("1/1s", 1, 1, "1/1s"),
      ("1000000/30d", 1_000_000, 2_592_000, "1000000/30d"), ("10/1h30m", 10, 5400, "10/1h30m"), ("10/90m", 10, 5400, "10/1h30m"),
      ("3/1000ms", 3, 1, "3/1s"),
    ])
  func read(_ text: String, _ count: Int, _ seconds: Int, _ written: String) throws {
    let rate = try Rate(text)
    #expect((rate.count, rate.period, rate.description) == (count, .seconds(seconds), written))
    #expect(try Rate(written) == rate)
    #expect(Rate(count: count, period: .seconds(seconds)) == rate)
  }

  @Test(
    "what is wrong with a rate is said",
    arguments: [
      ("", "as \"100/1m\""), ("100", "as \"100/1m\""), ("100/1m/1m", "as \"100/1m\""),
      ("0/1m", "number of starts is not from 1 to 1000000"),
      ("1000001/1m", "number of starts"), ("-1/1m", "number of starts"), ("+1/1m", "number of starts"), (" 1/1m", "number of starts"),
      ("1.5/1m", "number of starts"), ("/1m", "number of starts"), ("٣/1m", "number of starts"),
      ("99999999999999999999/1m", "number of starts"),
      ("1/", "\"\" is not a duration"), ("1/m", "\"m\" is not a duration"), ("1/1", "\"1\" is not a duration"),
      ("1/1m1m", "not a duration"),
      ("1/1s1m", "not a duration"), ("1/1 m", "not a duration"), ("1/99999999999999999d", "not a duration"),
      ("1/999ms", "not from 1s to 30d"),
      ("1/0s", "not from 1s to 30d"), ("1/31d", "not from 1s to 30d"),
    ])
  func wrong(_ text: String, _ words: String) throws {
    let error = try #require(throws: LimitSyntaxError.self) { try Rate(text) }
    #expect(error.description.hasPrefix("rate \"\(text)\": "))
    #expect(error.description.contains(words), "\(error)")
  }

  @Test("a rate out of range is none")
  func range() {
    #expect(Rate(count: 0, period: .seconds(1)) == nil)
    #expect(Rate(count: 1_000_001, period: .seconds(1)) == nil)
    #expect(Rate(count: 1, period: .milliseconds(999)) == nil)
    #expect(Rate(count: 1, period: .seconds(31 * 86_400)) == nil)
  }
}
