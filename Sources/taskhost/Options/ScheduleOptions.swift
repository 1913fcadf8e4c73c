import ArgumentParser
import HostControl

/// When a request runs: options of `submit`.
struct ScheduleOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Not before that long from now: 90s, 15m, 1h30m.", valueName: "duration"))
  var after: String?
  @Option(
    help: ArgumentHelp(
      "Not before that moment: 2026-11-21T08:00:00Z, or '2026-11-21 08:00' local time; of one that clocks show twice, the first.",
      valueName: "time"))
  var at: String?
  @Option(
    help: ArgumentHelp(
      "From then on only network, unmetered and power count of its conditions, and no window and no flex.", valueName: "time"))
  var deadline: String?
  @Option(help: ArgumentHelp("Again and again, that far apart: 6h.", valueName: "duration"))
  var every: String?
  @Option(help: ArgumentHelp("At the times of a cron expression: five fields, or @daily.", valueName: "expression"))
  var cron: String?
  @Option(help: ArgumentHelp("The time zone of --cron: Europe/Berlin; else the host's own.", valueName: "zone"))
  var tz: String?
  @Option(help: ArgumentHelp("A time of --cron that clocks skip: shift (default) or skip.", valueName: "policy"))
  var daylightGap: String?
  @Option(help: ArgumentHelp("A time of --cron that clocks show twice: first (default), last or both.", valueName: "policy"))
  var daylightRepeat: String?
  @Option(help: ArgumentHelp("It may start up to that much later, so that the machine wakes less often.", valueName: "duration"))
  var flex: String?
  @Option(
    help: ArgumentHelp(
      "Times that passed while the host was down: latest (default: one run for all), skip, all or all:N.", valueName: "policy"))
  var missed: String?
  @Option(help: ArgumentHelp("With --missed all: how far apart they run (default: 1m); at most half the interval.", valueName: "duration"))
  var missedSpread: String?

  func validate() throws {
    guard after == nil || at == nil else { throw ValidationError("--after and --at exclude each other.") }
    guard every == nil || cron == nil else { throw ValidationError("--every and --cron exclude each other.") }
    for (option, value) in [("--tz", tz), ("--daylight-gap", daylightGap), ("--daylight-repeat", daylightRepeat)] where value != nil {
      guard cron != nil else { throw ValidationError("\(option) is about --cron: give that too, or leave it out.") }
    }
    for (option, value) in [("--missed", missed), ("--missed-spread", missedSpread)] where value != nil {
      guard isRepeating else { throw ValidationError("\(option) is about a request that repeats: give --every or --cron.") }
    }
  }

  /// Whether it comes again by time.
  var isRepeating: Bool { every != nil || cron != nil }

  /// Writes the members of a request.
  func write(into writer: inout JSONWriter) throws {
    writer.member("delay_ms", try after.map { try TimeArgument.duration($0, "--after") })
    writer.member("earliest_begin_unix_ms", try at.map { try TimeArgument.moment($0, "--at") })
    writer.member("deadline_unix_ms", try deadline.map { try TimeArgument.moment($0, "--deadline") })
    writer.member("every_ms", try every.map { try TimeArgument.duration($0, "--every") })
    writer.member("cron", cron)
    writer.member("time_zone", tz)
    writer.member("daylight_gap", daylightGap)
    writer.member("daylight_repeat", daylightRepeat)
    writer.member("flex_ms", try flex.map { try TimeArgument.duration($0, "--flex") })
    if let missed { try writeMissed(missed, into: &writer) }
    writer.member("missed_spread_ms", try missedSpread.map { try TimeArgument.duration($0, "--missed-spread") })
  }

  /// `all:5`
  private func writeMissed(_ text: String, into writer: inout JSONWriter) throws {
    let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    writer.member("missed", String(halves[0]))
    guard halves.count == 2 else { return }
    guard let limit = Int64(halves[1]), limit > 0 else {
      throw ValidationError("--missed: '\(text)' names no number: write all:5 to run at most the last five.")
    }
    writer.member("missed_limit", limit)
  }
}
