import ArgumentParser
import CalendarTime
import StrictText
import Takeover
import TaskModel

/// What `takeover --observe` prints.
struct ObservationText {
  let observation: Observation
  /// `cron` or `systemd`.
  let who: String

  private static let mostMoments = 5

  /// Prints the comparison. Ends with 1 if cron did something else.
  func show(json: Bool) throws {
    if json { printJSON() } else { printTable() }
    if !observation.isEqual { throw ExitCode(ExitStatus.failed.rawValue) }
  }

  private func printTable() {
    Terminal.print("from \(Self.moment(observation.from)) to \(Self.moment(observation.to))")
    var table = TextTable(.name("IDENTIFIER"), "HOST", "RAN", "MISSING", "EXTRA", "LATE")
    for row in observation.rows {
      table.add(
        row.identifiers.joined(separator: ", "), "\(row.expected)", "\(row.matched)", "\(row.missing.count)", "\(row.extra.count)",
        row.matched > 0 ? "\(row.latest) s" : "-")
    }
    table.print(empty: "nothing has times on the calendar")
    for row in observation.rows {
      tell("\(who) did not run \(row.identifiers.joined(separator: ", "))", row.missing)
      tell("only \(who) ran \(row.identifiers.joined(separator: ", "))", row.extra)
    }
    if !observation.notCompared.isEmpty {
      Terminal.print("not compared, without times on the calendar: \(observation.notCompared.joined(separator: ", "))")
    }
    // Systemd starts many services that no timer starts.
    for (command, count) in who == "cron" ? observation.unknown : [] {
      let text = "(\(command.user)) \(command.text)".escapingControlCharacters
      Terminal.print("cron ran \(count) \(count == 1 ? "time" : "times") what no line that is carried over says: \(text)")
    }
  }

  private func tell(_ what: String, _ moments: [Int]) {
    guard !moments.isEmpty else { return }
    let more = moments.count > Self.mostMoments ? ", and \(moments.count - Self.mostMoments) more" : ""
    Terminal.print("\(what): \(moments.prefix(Self.mostMoments).map(Self.moment).joined(separator: ", "))\(more)")
  }

  private func printJSON() {
    Terminal.printObject { writer in
      writer.member("from", Self.rfc(observation.from))
      writer.member("to", Self.rfc(observation.to))
      writer.member("equal", observation.isEqual)
      writer.array("commands", observation.rows) { writer, row in
        writer.member("identifiers", row.identifiers)
        writer.member("user", row.command.user)
        writer.member("command", row.command.text)
        writer.member("expected", row.expected)
        writer.member("matched", row.matched)
        writer.member("missing", row.missing.map(Self.rfc))
        writer.member("extra", row.extra.map(Self.rfc))
        writer.member("latest_ms", row.latest * 1000)
      }
      writer.member("not_compared", observation.notCompared)
      writer.array("unknown", who == "cron" ? observation.unknown : []) { writer, unknown in
        writer.member("user", unknown.command.user)
        writer.member("command", unknown.command.text)
        writer.member("count", unknown.count)
      }
    }
  }

  private static func moment(_ seconds: Int) -> String { MomentFormat.local(Int64(seconds) * 1000) }

  private static func rfc(_ seconds: Int) -> String {
    RFC3339.format(WallTime(unixMilliseconds: Int64(seconds) * 1000)) ?? "\(seconds)"
  }
}
