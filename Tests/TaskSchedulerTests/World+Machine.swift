import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

extension World {
  /// The machine's conditions are these from now on, and what must stop is asked to.
  ///
  /// - Parameter unread: Those of which nothing is known.
  /// - Returns: The runs that are asked to stop.
  @discardableResult func set(_ held: Conditions, settles: WallTime? = nil, unread: Conditions = []) throws -> [RunID] {
    let report = ConditionReport(
      states: Conditions.named.map { name, condition in
        ConditionState(
          condition: condition, holds: held.contains(condition), since: now, observed: "\(name) as the test says",
          settlesAt: held.contains(condition) ? nil : settles, isRead: !unread.contains(condition))
      })
    core.conditions = report
    let stopped = core.runsThatLost(report)
    try turn()
    return stopped
  }

  @discardableResult func notify(_ event: String, payload: [UInt8]? = nil) throws -> EventReceipt {
    try turn { core, transaction in try core.notify(event, payload: payload, transaction, now: self.now) }
  }

  /// The calendar is moved by that much; the boot clock goes on as it did.
  func moveCalendar(_ distance: Duration) throws {
    let before = try store.commit { try $0.clockReference() } ?? ClockReference(boot: "first", offset: 0)
    now = now + distance
    let reference = ClockReference(boot: before.boot, offset: before.offset + distance.wholeMilliseconds)
    try turn { core, transaction in try core.clockChanged(reference, slept: false, transaction, now: self.now) }
  }

  /// The clocks are what they are, in one boot or another.
  func tellClocks(boot: String, offset: Int64) throws {
    let reference = ClockReference(boot: boot, offset: offset)
    try turn { core, transaction in try core.clockChanged(reference, slept: false, transaction, now: self.now) }
  }
}

extension WallTime {
  /// A moment of UTC in the form 2026-03-29T01:30:00Z; a wrong text is 1970.
  static func utc(_ text: String) -> WallTime {
    let parts = text.split { !$0.isNumber }.compactMap { Int($0) }
    guard parts.count == 6 else { return WallTime(unixMilliseconds: 0) }
    // Days since 1970 of the proleptic Gregorian calendar (Howard Hinnant, "chrono-compatible low-level date algorithms").
    let year = parts[1] <= 2 ? parts[0] - 1 : parts[0]
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (parts[1] + (parts[1] > 2 ? -3 : 9)) + 2) / 5 + parts[2] - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    return WallTime(unixMilliseconds: Int64(((days * 24 + parts[3]) * 60 + parts[4]) * 60 + parts[5]) * 1000)
  }
}
