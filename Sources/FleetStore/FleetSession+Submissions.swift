package import TaskModel
import TaskStore

// Requests on their way into the fleet.

extension FleetSession {
  /// Adds requests without keys, all or none. Returns their ids in order.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - bytes: Of the payload of the one at each place.
  ///   - draft: Makes the request at each place, once. The server works on the first ones while others are made.
  package func enqueue(
    _ count: Int, bytes: (Int) -> Int, _ draft: @escaping @Sendable (Int) -> FleetDraft
  ) throws(FleetError) -> [RequestID] {
    let ids = try ask(Self.parts(of: count, bytes: bytes).map { Self.enqueue($0, draft) }).flatMap { self.ids($0) }
    guard ids.count == count else { throw .refused("it gave \(ids.count) ids for \(count) requests") }
    return ids
  }

  private static func enqueue(_ places: Range<Int>, _ draft: @escaping @Sendable (Int) -> FleetDraft) -> PostgresStatement {
    PostgresStatement("SELECT id FROM taskhost.enqueue($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)") {
      var columns = FleetColumns()
      var identifiers: [String?] = []
      var payloads: [[UInt8]?] = []
      var (submitted, repeating): ([Int64], [Int64]) = ([], [])
      for place in places {
        let draft = draft(place)
        let record = draft.record
        columns.append(record, lane: draft.lane)
        identifiers.append(record.request.identifier.rawValue)
        payloads.append(record.request.payload)
        submitted.append(Self.submitted(record) ?? 0)
        if record.isRepeating { repeating.append(Int64(submitted.count)) }
      }
      return [
        .texts(identifiers), .ints(columns.lanes), .ints(columns.dues), .ints(columns.ranks), .texts(columns.events),
        .ints(columns.deadlines), .blobs(payloads), .texts(columns.records), .ints(submitted), .ints(repeating),
      ]
    }.kept
  }

  /// Adds requests one by one, all or none: those with unique or idempotency keys must be.
  ///
  /// - Parameter tells: Whether ``notify()`` follows.
  /// - Throws: ``FleetError/changed`` if an idempotency key of several was used for another submission.
  package func enqueue(named drafts: [FleetDraft], tells: Bool = false) throws(FleetError) -> [NamedSubmission] {
    let isPart = drafts.count > 1
    // Without a key, there is nobody to wait for.
    let mayWait = drafts.contains { $0.record.request.hasKeys }
    let rows = try ask(
      (mayWait ? [Self.shortWaits] : []) + drafts.map { Self.enqueue(named: $0, isPart: isPart) }, then: tells ? Self.notification : nil)
    return try rows.suffix(drafts.count).map { (rows) throws(FleetError) in try named(rows) }
  }

  /// - Parameter isPart: Whether others are added with it, all or none.
  static func enqueue(named draft: FleetDraft, isPart: Bool = false) -> PostgresStatement {
    let record = draft.record
    let keeps = record.request.uniqueKey == nil || record.request.onConflict == .keep
    return PostgresStatement(
      "SELECT id, known FROM taskhost.enqueue_named($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 = 1, true, $14, $15 = 1, $16 = 1)",
      .text(record.request.identifier.rawValue), .int(draft.lane), .int(record.due.unixMilliseconds), .int(rank(of: record)),
      .text(record.request.event?.name), .int(deadline(of: record)), .bytes(record.request.payload), .text(RecordText.text(of: record)),
      .text(record.request.uniqueKey), .text(record.request.idempotencyKey), .int(Int64(bitPattern: draft.fingerprint)),
      .int(draft.isDrawn ? record.id.sequence : nil), .int(keeps ? 1 : 0), .int(submitted(record)),
      .int(record.isRepeating ? 1 : 0), .int(isPart ? 1 : 0)
    ).kept
  }

  /// When a request was submitted, if it is due a while after that; nil if it is due at a time on the clock.
  private static func submitted(_ record: RequestRecord) -> Int64? {
    let request = record.request
    guard request.repetition == nil, request.event == nil else { return nil }
    let isElapsed = request.clock == .boot || (request.earliestBegin ?? record.submitted) <= record.submitted
    return isElapsed ? record.submitted.unixMilliseconds : nil
  }

  func named(_ rows: PostgresRows) throws(FleetError) -> NamedSubmission {
    guard let sequence = rows.int(0, 0), let known = rows.text(0, 1).flatMap(NamedSubmission.Known.init) else {
      throw .refused("it gave no id")
    }
    return NamedSubmission(id: RequestID(sequence: sequence, origin: origin), known: known)
  }
}

/// Requests as columns of the database. They are filled in one pass: records are large, and each look at one copies it.
struct FleetColumns {
  private(set) var (lanes, dues, ranks, deadlines): ([Int64], [Int64], [Int64], [Int64]) = ([], [], [], [])
  private(set) var (events, records): ([String?], [String?]) = ([], [])

  mutating func append(_ record: RequestRecord, lane: Int64) {
    lanes.append(lane)
    dues.append(record.due.unixMilliseconds)
    ranks.append(FleetSession.rank(of: record))
    deadlines.append(FleetSession.deadline(of: record))
    events.append(record.request.event?.name)
    records.append(RecordText.text(of: record))
  }
}
