import FleetStore
import StrictText
import TaskModel

extension FleetReview {
  // MARK: What keeps dead rows

  func transactions() -> [Finding] {
    health.transactions.map { transaction in
      let age = DurationFormat.text(milliseconds: transaction.age.wholeMilliseconds)
      let who = transaction.application.isEmpty ? "user \(transaction.user)" : "\(transaction.application) (user \(transaction.user))"
      let seen =
        transaction.isPrepared
        ? "the prepared transaction \(transaction.name) of user \(transaction.user) is \(age) old"
        : "process \(transaction.name), \(who), has had a transaction open for \(age) (\(transaction.state)"
          + (transaction.holdsSnapshot ? ", with a snapshot)" : ")")
      let remedy =
        transaction.isPrepared
        ? "COMMIT PREPARED or ROLLBACK PREPARED '\(transaction.name)'"
        : "end it: SELECT pg_terminate_backend(\(transaction.name)); limit such: "
          + "ALTER ROLE \"\(transaction.user)\" SET idle_in_transaction_session_timeout = '1min'"
      return Finding(
        .transactions, .warning, of: transaction.name, seen,
        why: transaction.waiting > 0
          ? "\(transaction.waiting == 1 ? "1 connection of a host waits" : "\(transaction.waiting) connections of hosts wait") for its locks: "
            + "what has ended is not recorded, or what is submitted not taken, until it ends"
          : "dead rows stay as long as it lasts, and claims become slower", remedy: remedy)
    }
  }

  /// What a slot may keep before it is told of.
  private static let keptBytes: Int64 = 1 << 30

  func slots() -> [Finding] {
    health.slots.compactMap { slot in
      let kept = ByteCountFormat.text(slot.kept)
      if slot.status == "lost" || slot.status == "unreserved" {
        return Finding(
          .transactions, .warning, of: slot.name, "the replication slot \(slot.name) is \(slot.status): it has kept \(kept) of the log",
          why: "its standby cannot follow any more, or soon", remedy: "set the standby up anew, or raise max_slot_wal_keep_size")
      }
      guard !slot.isActive || slot.kept > Self.keptBytes else { return nil }
      return Finding(
        .transactions, .warning, of: slot.name,
        "the replication slot \(slot.name) \(slot.isActive ? "is behind" : "is used by nobody"), and keeps \(kept) of the log"
          + (slot.holdsRows ? " and dead rows" : ""),
        why: "the disk of the database fills up" + (slot.holdsRows ? ", and claims become slower" : ""),
        remedy: "start what reads it, or remove it: SELECT pg_drop_replication_slot('\(slot.name)')")
    }
  }

  /// Below this number, dead rows cost nothing.
  private static let deadRows: Int64 = 50_000

  func tables() -> [Finding] {
    var findings: [Finding] = []
    for name in ["autovacuum", "track_counts"] where health.settings[name] == "off" {
      findings.append(
        Finding(
          .transactions, .warning, "\(name) is off", why: "dead rows stay for ever, and claims become slower", remedy: "set \(name) = on"))
    }
    for table in health.tables where !table.isVacuumed {
      findings.append(
        Finding(
          .transactions, .warning, of: table.name, "autovacuum is off for taskhost.\(table.name)", why: "its dead rows stay for ever",
          remedy: "ALTER TABLE taskhost.\(table.name) RESET (autovacuum_enabled)"))
    }
    for table in health.tables where table.dead > Self.deadRows && table.dead > table.live {
      findings.append(
        Finding(
          .transactions, .warning, of: table.name, "taskhost.\(table.name) has \(table.dead) dead rows beside \(table.live) live ones",
          why: "claims become slower, and the disk fills up",
          remedy: "end what keeps them (long transactions, slots), then VACUUM taskhost.\(table.name); let autovacuum run more often"))
    }
    return findings
  }

  // MARK: What is acknowledged

  func unlogged() -> [Finding] {
    health.unlogged.map { name in
      Finding(
        .database, .failure, of: name, "\(name) is unlogged: acknowledged may be lost", why: "a crash of the server empties it",
        remedy: "ALTER TABLE \(name) SET LOGGED")
    }
  }

  /// The servers of the address beside the one that was looked at.
  func servers() -> [Finding] {
    var findings = health.servers.compactMap { server in
      server.failure.map { failure in
        Finding(
          .database, .warning, of: server.name, "\(server.name) cannot be used: \(failure)",
          why: "hosts do not go on there when the others are lost", remedy: "start it, or take it out of fleet.url")
      }
    }
    // One server may have several names.
    let primaries = Dictionary(grouping: health.servers.filter(\.isPrimary)) { $0.started }.values.compactMap(\.first?.name).sorted()
    if primaries.count > 1 {
      findings.append(
        Finding(
          .database, .failure, "\(primaries.count) servers take writes: \(primaries.joined(separator: ", "))",
          why: "hosts that connect anew take the first one and run what it has, beside those that go on with another one",
          remedy: "shut down the one that is not the fleet's, or let it follow the other one"))
    }
    return findings
  }

  func tokens() -> [Finding] {
    guard health.tokensAreBehind else { return [] }
    return [
      Finding(
        .database, .failure, "the next fencing tokens are less than earlier ones",
        why: "what checks them refuses new owners of requests, or lets old ones in. Logical replication leaves sequences behind",
        remedy: "run taskhost fleet init, which lets them go on above")
    ]
  }

  func replication() -> [Finding] {
    let commit = health.settings["synchronous_commit"] ?? "on"
    var findings: [Finding] = []
    if commit == "off" {
      findings.append(
        Finding(
          .replication, .warning, "synchronous_commit is off for \(health.user): acknowledged may be lost",
          why: "what was acknowledged in the last moments before a crash of the server is gone",
          remedy: "ALTER ROLE \"\(health.user)\" RESET synchronous_commit, or set it to on"))
    }
    let synchronous = health.standbys.filter { $0.mode == "sync" || $0.mode == "quorum" }
    let names = health.settings["synchronous_standby_names"] ?? ""
    let isAwaited = !names.isEmpty && commit != "off" && commit != "local"
    if health.waitingCommits > 0 || isAwaited && synchronous.isEmpty && health.seesOthers {
      let waiting =
        switch health.waitingCommits {
        case 0: "commits wait for a synchronous standby, and there is none"
        case 1: "a commit waits for a synchronous standby that does not answer"
        case let count: "\(count) commits wait for a synchronous standby that does not answer"
        }
      findings.append(
        Finding(
          .replication, .failure, waiting,
          why: "claims, ends and submissions wait as well, and the leases of hosts end",
          remedy: names.isEmpty
            ? "see that the standby runs, and that the server reads its configuration anew"
            : "start the standby of synchronous_standby_names = '\(names)', or take it out there and reload the server"))
    } else if health.standbys.isEmpty {
      findings.append(
        Finding(
          .replication, .warning, "there is no standby: acknowledged may be lost",
          why: "if the disk of the server is lost, so is everything since the last backup",
          remedy: "add a standby, and name it in synchronous_standby_names"))
    } else if synchronous.isEmpty, health.standbys.contains(where: { !$0.mode.isEmpty }) {
      findings.append(
        Finding(
          .replication, .warning,
          "no standby is synchronous (\(health.standbys.map { "\($0.name): \($0.mode)" }.joined(separator: ", "))): "
            + "acknowledged may be lost",
          why: "what the standby did not have yet when the server was lost is gone after its promotion",
          remedy: "name it in synchronous_standby_names"))
    } else if synchronous.isEmpty {
      findings.append(
        Finding(
          .replication, .warning, "whether a standby is synchronous cannot be seen: acknowledged may be lost",
          remedy: "GRANT pg_monitor TO \"\(health.user)\""))
    } else if commit == "local" {
      findings.append(
        Finding(
          .replication, .warning, "synchronous_commit is local for \(health.user): acknowledged may be lost",
          why: "commits do not wait for the synchronous standby",
          remedy: "ALTER ROLE \"\(health.user)\" RESET synchronous_commit, or set it to on"))
    }
    return findings
  }

  // MARK: The requests

  func requests() -> [Finding] {
    let homeless = health.homeless.map { identifier in
      Finding(
        .requests, .failure, of: identifier, "requests of \(identifier) wait, and no live host has it", why: "they do not begin",
        remedy: "start a host whose configuration has it with scope = \"fleet\"; a drained one takes nothing (fleet drain --undo)")
    }
    let waiting = health.waiting.map { waiting in
      let age = DurationFormat.text(milliseconds: waiting.age.wholeMilliseconds)
      return Finding(
        .requests, .warning, of: waiting.identifier, "requests of \(waiting.identifier) have been ready for \(age)\(needs(waiting.needs))",
        why: "no host takes them: those that have it are busy, or what the requests need is on none of them",
        remedy: "taskhost tasks why \(waiting.first) on one of the hosts says of each why it takes none")
    }
    let ill = health.ill.prefix(5).map { ill in
      if let flaw = ill.flaw {
        return Finding(
          .requests, .failure, of: "\(ill.id)", "request \(ill.id) of \(ill.identifier) cannot be read: \(flaw)",
          why: "the host that takes it holds it, and does not run it",
          remedy: "install the taskhost that wrote it on all hosts; if nobody needs it, "
            + "SELECT taskhost.remove(\(ill.id.sequence)) takes it away")
      }
      return Finding(
        .requests, .warning, of: "\(ill.id)", "request \(ill.id) of \(ill.identifier) was lost with its host \(ill.lost) times in a row",
        why: "after \(Limits.lossesInARow) it fails; it may be what kills its hosts", remedy: "look at the logs of those hosts")
    }
    let more =
      health.ill.count > 5
      ? [Finding(.requests, .warning, "\(health.ill.count - 5) more requests are like these", why: "only some are listed")] : []
    return homeless + waiting + ill + more + strays() + orphans()
  }

  private func strays() -> [Finding] {
    guard health.strays.count > 0, let first = health.strays.first else { return [] }
    let seen = health.strays.count == 1 ? "1 request is pending" : "\(health.strays.count) requests are pending"
    return [
      Finding(
        .requests, .failure, of: "\(first)", "\(seen), and no host would find \(health.strays.count == 1 ? "it" : "them"): \(first)",
        why: "somebody has deleted rows of taskhost.ready, later or claim", remedy: "run taskhost fleet init, which puts them back")
    ]
  }

  private func orphans() -> [Finding] {
    var findings: [Finding] = []
    if health.laneless.count > 0, let first = health.laneless.first {
      findings.append(
        Finding(
          .requests, .failure, of: "\(first)", "of \(health.laneless.count) pending requests, somebody has deleted the lanes: \(first)",
          why: "no host looks for them",
          remedy: "stop all hosts, and move the fleet: taskhost fleet export, DROP SCHEMA taskhost CASCADE, fleet init, fleet import"))
    }
    if health.heldByNobody > 0 {
      findings.append(
        Finding(
          .requests, .failure, "\(health.heldByNobody) requests are held by hosts whose rows somebody has deleted",
          why: "others get them a day after they were claimed",
          remedy: "if those hosts are dead: DELETE FROM taskhost.claim c WHERE NOT EXISTS "
            + "(SELECT FROM taskhost.host h WHERE h.incarnation = c.incarnation), and then taskhost fleet init"))
    }
    return findings
  }

  /// `, for hosts with network, power, in the window "night"`.
  private func needs(_ gates: RunConstraints) -> String {
    var parts = gates.conditions.names
    if let window = gates.window { parts.append("the window \"\(window)\"") }
    parts += gates.resources.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
    if let key = gates.concurrencyKey { parts.append("the concurrency key \"\(key)\"") }
    return parts.isEmpty ? "" : ", for \(parts.joined(separator: ", "))"
  }
}
