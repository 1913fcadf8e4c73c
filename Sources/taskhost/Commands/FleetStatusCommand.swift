import ArgumentParser
import CalendarTime
import FleetStore
import HostControl
import StrictText
import TaskModel

struct FleetStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the fleet's hosts, and how many requests are ready, not due yet, held by hosts, and failed.",
    discussion: """
      Exits 1 if a person is needed: no host is there for requests that are ready, or
      a lease ended a while ago and nobody has taken over what it held. With
      --metrics, that is a metric, and the exit status is 0.

      EXAMPLES
        taskhost fleet status
        taskhost fleet status --json
        taskhost fleet status --metrics
      """)

  @OptionGroup var fleet: FleetOptions
  @Flag(help: "Print Prometheus' text format.") var metrics = false

  func validate() throws {
    if fleet.json, metrics { throw ValidationError("--json and --metrics exclude each other: choose one") }
  }

  func run() throws { try fleet.answering { try work() } }

  private func work() throws {
    let (members, counts, lease) = try fleet.ask { (session) throws(FleetError) in
      (try session.members(), try session.counts(), session.lease)
    }
    let alive = members.filter(\.state.isThere)
    let expired = members.filter { $0.state == .expired }
    let problem: String? =
      if let host = expired.first(where: { $0.held > 0 }), alive.isEmpty {
        "the lease of \(host.name.escapingControlCharacters) has ended, and no host is there to take over what it held: start one"
      } else if let host = expired.first(where: { $0.held > 0 && $0.left < .zero - lease }) {
        "the lease of \(host.name.escapingControlCharacters) ended \((.zero - host.left).wholeMilliseconds) ms ago, "
          + "and no other host has taken over what it held: read their logs"
      } else if counts.ready > 0, alive.isEmpty {
        "\(counts.ready) requests are ready, and no host is there: start one"
      } else if counts.ready > 0, alive.allSatisfy({ $0.state == .draining }) {
        "\(counts.ready) requests are ready, and each host is drained: taskhost fleet drain HOST --undo"
      } else { nil }
    if metrics { return Terminal.print(Self.metrics(members, counts, needsAPerson: problem != nil)) }
    if fleet.json {
      Terminal.printObject { writer in
        writer.member("ready", counts.ready)
        writer.member("not_due", counts.later)
        writer.member("held", counts.held)
        writer.member("failed", counts.failed)
        writer.member("blocked", counts.blocked)
        writer.member("oldest_due_unix_ms", counts.oldestDue?.unixMilliseconds)
        writer.member("lease_ms", lease.wholeMilliseconds)
        writer.member("problem", problem)
        writer.array("hosts", members) { writer, member in FleetText.write(member, to: &writer) }
      }
    } else {
      let length = DurationFormat.text(milliseconds: lease.wholeMilliseconds)
      let draining = alive.count { $0.state == .draining }
      let drained = draining == 0 ? "" : " (\(draining) draining)"
      Terminal.print("hosts    \(alive.count) alive\(drained), \(expired.count) expired; a lease lasts \(length)")
      let age = counts.oldestDue.map {
        ", the oldest due for \(DurationFormat.text(milliseconds: max(0, (counts.now - $0).wholeMilliseconds)))"
      }
      Terminal.print(
        "requests \(counts.ready) ready\(age ?? ""), \(counts.later) not due, \(counts.held) held, \(counts.blocked) wait for others, "
          + "\(counts.failed) failed")
      FleetText.list(members.filter { $0.state != .fenced })
      if let problem { Terminal.note("! \(problem)") }
    }
    if problem != nil { throw ExitCode(ExitStatus.failed.rawValue) }
  }

  private static func metrics(_ members: [FleetMember], _ counts: FleetCounts, needsAPerson: Bool) -> String {
    var writer = MetricsWriter(reservingCapacity: 2048)
    let requests = "taskhost_fleet_requests"
    writer.metric(requests, .gauge, "Requests of the fleet, by what they wait for.")
    for (state, count) in [
      ("ready", counts.ready), ("not_due", counts.later), ("held", counts.held), ("blocked", counts.blocked), ("failed", counts.failed),
    ] { writer.sample(requests, ["state": state], count) }
    if let oldest = counts.oldestDue {
      let name = "taskhost_fleet_oldest_ready_timestamp_seconds"
      writer.metric(name, .gauge, "Since when the longest waiting of the ready requests is due.")
      writer.sample(name, [:], oldest)
    }
    let hosts = "taskhost_fleet_hosts"
    writer.metric(hosts, .gauge, "Hosts of the fleet; those that were fenced in the last day too.")
    for state in FleetMember.State.allCases { writer.sample(hosts, ["state": state.rawValue], members.count { $0.state == state }) }
    let needs = "taskhost_fleet_needs_person"
    writer.metric(needs, .gauge, "1 if nobody runs what is ready, or takes over what a host has left.")
    writer.sample(needs, [:], needsAPerson ? 1 : 0)
    return String(writer.text.dropLast())
  }
}
