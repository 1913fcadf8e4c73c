import ArgumentParser
import StrictText
import TaskModel

/// The options of `submit` for when a request runs.
struct ScheduleOptions: ParsableArguments {
  @Option(name: .field(.delay), help: ArgumentHelp("Run no earlier than this long from now: 90s, 15m, 1h30m.", valueName: "duration"))
  var after: String?
  @Option(
    name: .field(.earliestBeginUnix),
    help: ArgumentHelp(
      "Run no earlier than this moment: 2026-11-21T08:00:00Z, or '2026-11-21 08:00' local time (the first, if clocks show it twice).",
      valueName: "time"))
  var at: String?
  @Option(
    name: .field(.deadlineUnix),
    help: ArgumentHelp(
      "After this moment, only the conditions network, unmetered and power count; window and flex do not.", valueName: "time"))
  var deadline: String?
  @Option(name: .field(.every), help: ArgumentHelp("Repeat at this interval: 6h.", valueName: "duration"))
  var every: String?
  @Option(name: .field(.cron), help: ArgumentHelp("Repeat by this cron expression: five fields, or @daily.", valueName: "expression"))
  var cron: String?
  @Option(name: .field(.timeZone), help: ArgumentHelp("The time zone of --cron: Europe/Berlin. (default: the host's)", valueName: "zone"))
  var tz: String?
  @Option(
    name: .field(.daylightGap), help: ArgumentHelp("A time of --cron that clocks skip: shift (default) or skip.", valueName: "policy"))
  var daylightGap: String?
  @Option(
    name: .field(.daylightRepeat),
    help: ArgumentHelp("A time of --cron that clocks show twice: first (default), last or both.", valueName: "policy"))
  var daylightRepeat: String?
  @Option(
    name: .field(.flex),
    help: ArgumentHelp("How much later it may start, so that the machine wakes less often.", valueName: "duration"))
  var flex: String?
  @Option(
    name: .field(.jitter),
    help: ArgumentHelp(
      "Start later than each time, by a share of this that is fixed for the request and this host: 10m.", valueName: "duration"))
  var jitter: String?
  @Flag(name: .field(.wake), help: "Wake the machine from sleep when it is due, where the host may and the machine can.")
  var wake = false
  @Option(
    name: .field(.missed),
    help: ArgumentHelp(
      "Times missed while the host was down: latest (default: one run for all), skip, all or all:N.", valueName: "policy"))
  var missed: String?
  @Option(
    name: .field(.missedSpread),
    help: ArgumentHelp("With --missed all: the time between these runs (default: 1m); at most half the interval.", valueName: "duration"))
  var missedSpread: String?

  /// Writes the members of a request.
  func write(into writer: inout JSONWriter) throws {
    try writer.duration(.delay, after)
    try writer.moment(.earliestBeginUnix, at)
    try writer.moment(.deadlineUnix, deadline)
    try writer.duration(.every, every)
    writer.member(RequestField.cron, cron)
    writer.member(RequestField.timeZone, tz)
    writer.member(RequestField.daylightGap, daylightGap)
    writer.member(RequestField.daylightRepeat, daylightRepeat)
    try writer.duration(.flex, flex)
    try writer.duration(.jitter, jitter)
    if wake { writer.member(RequestField.wake.rawValue, true) }
    if let missed { try writeMissed(missed, into: &writer) }
    try writer.duration(.missedSpread, missedSpread)
  }

  /// `all:5`. The host decides how large the number may be.
  private func writeMissed(_ text: String, into writer: inout JSONWriter) throws {
    let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    writer.member(RequestField.missed, String(halves[0]))
    guard halves.count == 2 else { return }
    guard let limit = Int64(halves[1]) else {
      throw ValidationError("--missed: '\(text)' has no valid number: write all:5 to run at most the last five.")
    }
    writer.member(RequestField.missedLimit, limit)
  }
}
