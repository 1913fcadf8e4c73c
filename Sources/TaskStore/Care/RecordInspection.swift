import GRDB
import TaskModel

/// Reads every row of a store as a host would, and compares what is derived with the records that it is derived from.
final class RecordInspection {
  private struct Count: Hashable {
    let identifier, state: Int64
  }

  /// A rule that a query finds exceptions to: it selects the ids of requests.
  private struct Rule {
    let kind: StoreInspection.Finding.Kind
    let sentence: String
    let sql: String
  }

  /// Records that a finding names.
  private static let named = 3

  private let database: Database
  private let origin: UInt64
  /// Values that do not open are found apart, see ``SealedContent``.
  private let seals: ValueSeals
  private let identifiers = IdentifierTable()
  private var findings: [StoreInspection.Finding] = []
  private var unreadable: [String] = []
  private var counts: [Count: Int] = [:]
  private(set) var requests = 0
  private(set) var runs = 0

  init(_ database: Database, origin: UInt64, _ sealing: StoreSealing?) {
    self.database = database
    self.origin = origin
    seals = ValueSeals(origin: origin, sealing)
  }

  /// Reads everything.
  func run(_ step: StoreStep.Observer) throws -> [StoreInspection.Finding] {
    let origins = try Int.fetchOne(database, sql: "SELECT count(*) FROM origin") ?? 0
    if origins != 1 { findings.append(.init(.unreadable, "the store has \(origins) identities instead of one")) }
    let total = try Int.fetchOne(database, sql: "SELECT (SELECT count(*) FROM requests) + (SELECT count(*) FROM runs)") ?? 0
    let lost = try readRequests { step(StoreStep("reading requests", done: $0, of: total)) }
    try readRuns { step(StoreStep("reading runs", done: $0, of: total)) }
    step(StoreStep(what: "reading other records", percent: nil))
    try readOthers()
    name(unreadable, .unreadable) { "\($0 == 1 ? "1 record" : "\($0) records") cannot be read" }
    name(lost, .derived) { "\(Self.requests($0)) not in the lane that scheduling looks for" }
    try compareCounts()
    for rule in Self.rules { try apply(rule) }
    return findings
  }

  private static func requests(_ count: Int) -> String { count == 1 ? "1 request is" : "\(count) requests are" }

  private func name(_ places: [String], _ kind: StoreInspection.Finding.Kind, _ sentence: (Int) -> String) {
    guard !places.isEmpty else { return }
    let rest = places.count > Self.named ? ", …" : ""
    findings.append(.init(kind, "\(sentence(places.count)): \(places.prefix(Self.named).joined(separator: ", "))\(rest)"))
  }

  private func id(_ sequence: Int64) -> String { RequestID(sequence: sequence, origin: origin).description }

  // MARK: Rows

  /// - Returns: The pending requests whose lane is not the stored one.
  private func readRequests(_ done: (Int) -> Void) throws -> [String] {
    let lanes = LaneTable(identifiers)
    var lost: [String] = []
    try PreparedStatement(database, "SELECT \(RequestColumns.list) FROM requests ORDER BY id").visit([]) { row in
      let sequence = row.integer(0)
      requests += 1
      if requests.isMultiple(of: 4096) { done(requests) }
      counts[Count(identifier: row.integer(1), state: row.integer(2)), default: 0] += 1
      do {
        let record = try RequestColumns.record(row, origin: origin, seals) { try identifiers.name(of: $0, in: database) }
        if record.state == .pending, (try? lanes.lane(of: row.integer(26), in: database)) != record.lane { lost.append(id(sequence)) }
      } catch { unreadable.append("request \(id(sequence)) (\(error))") }
      return true
    }
    return lost
  }

  private func readRuns(_ done: (Int) -> Void) throws {
    try PreparedStatement(database, "SELECT \(RunColumns.list), \(RunColumns.reported) FROM runs ORDER BY id").visit([]) { row in
      runs += 1
      if runs.isMultiple(of: 4096) { done(requests + runs) }
      do {
        var record = try RunColumns.record(row, origin: origin, seals) { try identifiers.name(of: $0, in: database) }
        try RunColumns.report(row, at: RunColumns.count, of: row.integer(0), to: &record.report, seals)
      } catch { unreadable.append("run \(id(row.integer(0))) (\(error))") }
      return true
    }
  }

  private func readOthers() throws {
    func visit(_ sql: String, _ what: String, _ read: (borrowing PreparedStatement.Columns) throws -> Void) throws {
      var row = 0
      try PreparedStatement(database, sql).visit([]) { columns in
        row += 1
        do { try read(columns) } catch { unreadable.append("\(what) \(row) (\(error))") }
        return true
      }
    }
    try visit("SELECT id FROM identifiers ORDER BY id", "identifier") { _ = try identifiers.name(of: $0.integer(0), in: database) }
    try visit("SELECT gates FROM lanes ORDER BY id", "lane") { _ = try StoredGates.gates($0.text(0)) }
    try visit("SELECT on_failure, ended FROM edges ORDER BY rowid", "dependency") { row in
      _ = try Dependency.FailurePolicy(stored: row.integer(0))
      _ = try RequestState.optional(row.optionalInteger(1))
    }
    try visit("SELECT disposition FROM submissions ORDER BY rowid", "submission") { _ = try Disposition(stored: $0.integer(0)) }
    try visit("SELECT kind FROM schedules ORDER BY id", "schedule") { _ = try StoredScheduleKind(stored: $0.integer(0)) }
  }

  // MARK: Rules

  private func compareCounts() throws {
    var stored: [Count: Int] = [:]
    try PreparedStatement(database, "SELECT identifier, state, requests FROM request_counts WHERE requests <> 0").visit([]) { row in
      stored[Count(identifier: row.integer(0), state: row.integer(1))] = Int(row.integer(2))
      return true
    }
    let wrong = Set(stored.keys).union(counts.keys).filter { stored[$0] != counts[$0] }
    guard !wrong.isEmpty else { return }
    findings.append(.init(.derived, "\(wrong.count == 1 ? "1 count" : "\(wrong.count) counts") of requests differ from the requests"))
  }

  private func apply(_ rule: Rule) throws {
    var places: [String] = []
    var count = 0
    try PreparedStatement(database, rule.sql).visit([]) { row in
      count += 1
      if places.count <= Self.named { places.append(id(row.integer(0))) }
      return true
    }
    guard count > 0 else { return }
    let rest = count > Self.named ? ", …" : ""
    let times = count > 1 ? " (\(count) times)" : ""
    findings.append(.init(rule.kind, "\(rule.sentence)\(times): \(places.prefix(Self.named).joined(separator: ", "))\(rest)"))
  }

  private static func orphans(_ table: String, _ what: String) -> Rule {
    Rule(
      kind: .derived, sentence: "\(what) of a request that is gone",
      sql: "SELECT request FROM \(table) t WHERE NOT EXISTS (SELECT 1 FROM requests r WHERE r.id = t.request)")
  }

  private static let rules = [
    orphans("payloads", "a payload"), orphans("event_payloads", "the payload of an event"), orphans("checkpoints", "a checkpoint"),
    orphans("edges", "a dependency"), orphans("request_tags", "a tag"),
    Rule(
      kind: .derived, sentence: "a tag that listings by tag do not find",
      sql: """
        SELECT DISTINCT r.id FROM requests r, json_each(iif(json_valid(r.tags), r.tags, '[]')) t
        WHERE r.tags IS NOT NULL AND NOT EXISTS (SELECT 1 FROM request_tags g WHERE g.tag = t.value AND g.request = r.id)
        """),
    Rule(
      kind: .derived, sentence: "a tag that its request does not have",
      sql: """
        SELECT g.request FROM request_tags g JOIN requests r ON r.id = g.request
        WHERE NOT EXISTS (SELECT 1 FROM json_each(iif(json_valid(r.tags), r.tags, '[]')) t WHERE t.value = g.tag)
        """),
    Rule(
      kind: .contradictory, sentence: "a request that is blocked, and whose predecessor has ended or is gone",
      sql: """
        SELECT r.id FROM requests r JOIN edges e ON e.request = r.id AND e.ended IS NULL
        WHERE r.state = 10 AND NOT EXISTS (SELECT 1 FROM requests p WHERE p.id = e.predecessor AND p.state < 50)
        """),
    Rule(
      kind: .contradictory, sentence: "a request that is blocked, and waits for nothing",
      sql: """
        SELECT r.id FROM requests r
        WHERE r.state = 10 AND NOT EXISTS (SELECT 1 FROM edges e WHERE e.request = r.id AND e.ended IS NULL)
        """),
    Rule(
      kind: .contradictory, sentence: "a live run that has already ended",
      sql: "SELECT r.id FROM requests r JOIN runs u ON u.id = r.run WHERE r.state IN (30, 40)"),
    Rule(
      kind: .contradictory, sentence: "a request that is running without a run",
      sql: "SELECT id FROM requests WHERE state IN (30, 40) AND run IS NULL"),
  ]
}
