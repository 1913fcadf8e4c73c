package import FleetStore
import StrictText
import TaskModel

/// What would make a fleet's next runs fail or its acknowledged requests vanish: `taskhost fleet doctor`.
///
/// Changes nothing in the database. Blocks until it answers.
public struct FleetReview: Sendable {
  /// What was found in the database.
  package let health: FleetHealth

  package init(_ health: FleetHealth) { self.health = health }

  /// Looks at a fleet.
  ///
  /// - Parameters:
  ///   - address: The database, as libpq takes it.
  ///   - long: From which age a transaction counts as long.
  ///   - patience: For how long requests may be ready before they are told of.
  public static func findings(_ address: String, long: Duration, patience: Duration) -> [Finding] {
    do throws(FleetError) {
      let session = try FleetSession(address, name: "fleet doctor")
      var health = try session.health(long: long, patience: patience)
      health.servers = FleetServer.all(address)
      return FleetReview(health).findings()
    } catch {
      switch error {
      case .away(let reason, let isThere):
        return [
          Finding(
            .database, .failure,
            isThere ? "the fleet's database did not answer: \(reason)" : "the fleet's database cannot be reached: \(reason)",
            why: "hosts run none of the fleet's requests, and refuse submissions",
            remedy: isThere
              ? "see in pg_stat_activity and pg_locks what it waits for"
              : FleetError.reaching
          )
        ]
      default: return [Finding(.database, .failure, "\(error)", why: "hosts run none of the fleet's requests")]
      }
    }
  }

  /// Everything that was looked at, what is well too.
  func findings() -> [Finding] {
    guard health.missing.isEmpty else {
      let names = health.missing
      return [
        Finding(
          .database, .failure,
          "the fleet's tables are not complete: \(Self.some(names)) "
            + "\(names.count == 1 ? "is" : "are") missing",
          why: "hosts run none of the fleet's requests",
          remedy: "run taskhost fleet init for functions, sequences and taskhost.repeating; another table comes back from a backup")
      ]
    }
    var parts: [(Finding.Topic, [Finding], ok: String)] = [
      (
        .database,
        server() + servers() + settings() + connections() + rights() + indexes() + functions() + fences() + days() + unlogged() + tokens(),
        "PostgreSQL \(version)\(schema)"
      ),
      (.clock, clock(), "this machine and the database agree"),
      (.transactions, transactions() + slots() + tables(), "none has been open for long, and dead rows are removed"),
    ]
    // A standby says nothing of those beside it.
    if !health.isStandby { parts.append((.replication, replication(), "a synchronous standby has what is acknowledged")) }
    if let unread = health.unread {
      parts.append((.requests, [Self.unread(unread)], ""))
    } else {
      parts += [
        (.members, members(), "\(living.count) \(living.count == 1 ? "host is" : "hosts are") there"),
        (.requests, requests(), "every identifier with pending requests has a host, and none is stuck"),
      ]
    }
    return parts.flatMap { topic, found, ok in found.contains { $0.verdict != .ok } ? found : [Finding(topic, .ok, ok)] + found }
  }

  private var schema: String { health.unread == nil ? ", tables of version \(health.schema)" : "" }

  private static func unread(_ error: FleetError) -> Finding {
    let isHeld: Bool
    switch error {
    case .locked, .away(_, isThere: true): isHeld = true
    default: isHeld = false
    }
    return Finding(
      .requests, .failure, isHeld ? "another transaction keeps the fleet's tables from being read" : "\(error)",
      why: "hosts run none of the fleet's requests, or fewer", remedy: isHeld ? "see above under transactions, and end it" : nil)
  }

  private var version: String { "\(health.server / 10_000).\(health.server % 10_000)" }

  private func text(_ duration: Duration) -> String { DurationFormat.text(milliseconds: duration.wholeMilliseconds) }

  // MARK: The server

  private func server() -> [Finding] {
    var findings: [Finding] = []
    if health.server < 140_000 {
      findings.append(
        Finding(.database, .failure, "PostgreSQL \(version) is too old", remedy: "use version 14 or newer"))
    }
    if health.isStandby {
      findings.append(
        Finding(
          .database, .failure, "the server is a standby: nothing can be written", why: "hosts run none of the fleet's requests",
          remedy: "name the primary in fleet.url, or all servers with target_session_attrs=read-write"))
    }
    if health.schema > health.known {
      findings.append(
        Finding(
          .database, .warning, "the fleet's tables have version \(health.schema), and this taskhost knows up to \(health.known)",
          why: "hosts of this version work, without what is new", remedy: "install the newer taskhost on all hosts"))
    }
    if !health.seesOthers {
      findings.append(
        Finding(
          .database, .warning, of: health.user, "it may not see what other users of the database do",
          why: "long transactions and standbys may be missing below", remedy: "GRANT pg_monitor TO \"\(health.user)\""))
    }
    if health.isPooled {
      findings.append(
        Finding(
          .database, .ok, "a pool of connections, such as PgBouncer, stands in between: hosts get no notifications and look every 5 s",
          remedy: "if requests begin too late, name the server itself in fleet.url"))
    }
    return findings
  }

  private func isOff(_ name: String) -> Bool { health.settings[name] == "off" }

  private func settings() -> [Finding] {
    var findings: [Finding] = []
    func find(_ verdict: Finding.Verdict, _ seen: String, _ why: String, _ remedy: String) {
      findings.append(Finding(.database, verdict, seen, why: why, remedy: remedy))
    }
    for name in ["fsync", "full_page_writes"] where isOff(name) {
      find(.failure, "\(name) is off", "when the machine crashes, the database may be damaged, and everything lost", "set \(name) = on")
    }
    if health.settings["default_transaction_read_only"] == "on" {
      find(
        .failure, "default_transaction_read_only is on for \(health.user)", "hosts can write nothing",
        "ALTER ROLE \"\(health.user)\" SET default_transaction_read_only = off")
    }
    // A connection of a host's own sets some as it needs them.
    if health.isPooled, let level = health.settings["default_transaction_isolation"], level != "read committed" {
      find(
        .failure, "default_transaction_isolation is \(level) for \(health.user)",
        "hosts that claim at once make each other's transactions fail",
        "ALTER ROLE \"\(health.user)\" SET default_transaction_isolation = 'read committed'")
    }
    // The least that leaves a host's statements alone; 0 is no limit.
    let limits: [(String, least: Int64, String)] = [
      ("transaction_timeout", 10_000, "transactions of a busy host are cancelled, and begin anew"),
      ("idle_in_transaction_session_timeout", 1_000, "a host that the machine slows down loses its connection"),
    ]
    let limitsOfPools: [(String, least: Int64, String)] = [
      ("statement_timeout", 10_000, "statements of a busy host are cancelled, and begin anew"),
      ("lock_timeout", 2_000, "hosts that wait for each other for a moment give up"),
    ]
    for (name, least, why) in limits + (health.isPooled ? limitsOfPools : []) {
      guard let value = health.settings[name].flatMap(Int64.init), value > 0, value < least else { continue }
      find(
        .warning, "\(name) is \(value) ms for \(health.user)", why,
        "ALTER ROLE \"\(health.user)\" SET \(name) = \(least) or more, or 0 for none")
    }
    return findings
  }

  private func connections() -> [Finding] {
    let (used, most) = (health.connections, health.mostConnections)
    guard most > 0, used * 10 >= most * 8 else { return [] }
    return [
      Finding(
        .database, used * 20 >= most * 19 ? .failure : .warning, "\(used) of \(most) connections are in use",
        why: "a host that has none left runs nothing of the fleet: each needs three",
        remedy: "raise max_connections, put PgBouncer in between, or end what is not needed")
    ]
  }

  private func rights() -> [Finding] {
    guard !health.lackingRights.isEmpty else { return [] }
    return [
      Finding(
        .database, .failure, of: health.user, "it may not \(Self.some(health.lackingRights))",
        why: "a host that connects as this user runs none of the fleet's requests",
        remedy: "let the role own the schema taskhost, or be a member of the role that does and inherit its rights")
    ]
  }

  private func indexes() -> [Finding] {
    guard !health.missingIndexes.isEmpty else { return [] }
    return [
      Finding(
        .database, .failure, "indexes of the fleet's tables are missing: \(Self.some(health.missingIndexes))",
        why: "submissions are refused, or claims slow; without a primary key, a key may be taken twice",
        remedy: "run taskhost fleet init, which makes them")
    ]
  }

  private static func some(_ names: [String]) -> String {
    "\(names.prefix(5).joined(separator: ", "))\(names.count > 5 ? " and others" : "")"
  }

  private func functions() -> [Finding] {
    guard health.openFunctions > 0 else { return [] }
    return [
      Finding(
        .database, .failure, "\(health.openFunctions) of the fleet's functions are of an earlier build, and search other schemas",
        why: "what somebody has left in public may run as whoever calls them", remedy: "run taskhost fleet init, which replaces them")
    ]
  }

  private func fences() -> [Finding] {
    guard !health.fencesWait else { return [] }
    return [
      Finding(
        .database, .failure, "the constraint host_fenced of taskhost.host is missing",
        why: "fences do not wait for hosts: what a host takes meanwhile may stay with it, and run nowhere",
        remedy: "run taskhost fleet init, which makes it")
    ]
  }

  private func days() -> [Finding] {
    guard !health.missingDays.isEmpty else { return [] }
    return [
      Finding(
        .database, .failure, "the history has no \(health.missingDays.joined(separator: ", "))",
        why: "ends of runs on these days cannot be recorded: their requests are held, and run again later",
        remedy: "run taskhost fleet init, which makes them, as hosts do; if it cannot, see which table of taskhost has that name or those "
          + "days, and who owns it")
    ]
  }

  // MARK: The clock

  private var tolerance: Duration { .seconds(1) + health.trip }

  private func clock() -> [Finding] {
    let apart = health.ahead < .zero ? .zero - health.ahead : health.ahead
    guard apart > tolerance else { return [] }
    let shown = apart > .seconds(10) ? .seconds(apart.wholeMilliseconds / 1000) : apart
    return [
      Finding(
        .clock, .warning, "this machine's clock is \(text(shown)) \(health.ahead > .zero ? "behind" : "ahead of") the database's",
        why: "what names a time of this clock begins too \(health.ahead > .zero ? "early" : "late"); delays and leases are not concerned",
        remedy: "start a time service on both: timedatectl set-ntp true, or install chrony")
    ]
  }

  // MARK: The hosts

  private var living: [FleetMember] { health.members.filter(\.state.isThere) }

  /// Another host helps nobody while none of them can write.
  private func starting(_ advice: String) -> String { health.waitingCommits > 0 ? "see replication: hosts cannot write" : advice }

  private func members() -> [Finding] {
    var findings: [Finding] = []
    for host in health.members where host.state == .expired && host.held > 0 {
      findings.append(
        Finding(
          .members, .failure, of: host.name,
          "the lease of \(host.name) has ended, and no host has taken over the \(host.held) requests that it held",
          remedy: starting(living.isEmpty ? "start a host" : "look again in a moment; if it stays so, read the logs of the others")))
    }
    for (name, hosts) in Dictionary(grouping: living, by: \.name).sorted(by: { $0.key < $1.key }) where hosts.count > 1 {
      findings.append(
        Finding(
          .members, .warning, of: name, "\(hosts.count) hosts are called \(name)",
          why: "people cannot tell them apart, and fleet drain and fence mean all of them", remedy: "give each its own fleet.name"))
    }
    if living.isEmpty {
      findings.append(
        Finding(
          .members, .failure, "no host is there", why: "nothing of the fleet runs",
          remedy: starting("start one")))
    }
    return findings
  }
}
