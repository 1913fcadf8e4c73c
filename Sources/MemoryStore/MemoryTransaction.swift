import TaskModel

/// The tables of the store, and the operations of one commit on them. Every change records how to undo it.
final class MemoryTransaction: StoreTransaction {
  let origin: UInt64
  var rows: [Int64: MemoryRow] = [:]
  var owners: [TaskIdentifier: MemoryOwner] = [:]
  private(set) var lanes: [Lane: MemoryLane] = [:]
  /// The number of lanes that have become empty since empty lanes were last removed.
  private var emptied = 0
  /// The number of requests in each state.
  private(set) var counts: [RequestState: Int] = [:]
  private var runningRows: Set<Int64> = []
  private var claimedRows: Set<Int64> = []
  /// The live requests that hold unique keys.
  private(set) var holders: [OwnedKey: Int64] = [:]
  /// The ended requests, by the time they ended.
  private(set) var ended = SortedKeys()
  /// The pending requests by deadline, without relaxed ones.
  private(set) var deadlines = SortedKeys()
  /// The live requests that wait for an event.
  private(set) var events: [ExactText: Set<Int64>] = [:]
  var edges: [Int64: [DependencyRecord]] = [:]
  /// The dependants with open edges, by predecessor.
  var openEdges: [Int64: Set<Int64>] = [:]
  var submissions: [OwnedKey: KnownSubmission] = [:]
  var windows: [OwnedKey: (request: RequestID, until: WallTime)] = [:]
  var clock: ClockReference?
  var checkpoints: [Int64: [UInt8]] = [:]
  var healthOf: [TaskIdentifier: PluginHealth] = [:]
  var pausesOf: [PauseID: Pause] = [:]
  private(set) var lastPause: Int64 = 0
  var objectivesOf: [TaskIdentifier: WallTime] = [:]
  var runs: [Int64: RunRecord] = [:]
  var runOrder = SortedKeys()
  /// The runs in the history, by their request.
  var runsOf: [Int64: Set<Int64>] = [:]
  var schedules: [ScheduleKey: MemorySchedule] = [:]
  /// The schedule of each run in the history.
  var schedulesOfRuns: [Int64: ScheduleKey] = [:]
  var pruning = PruningProgress()
  /// The highest sequence of any removed record.
  var highestRemoved: Int64 = 0
  private var changes: [() -> Void] = []

  init(origin: UInt64) { self.origin = origin }

  // MARK: Taking back

  /// Records how to undo a change.
  func undo(_ change: @escaping () -> Void) { changes.append(change) }

  /// Writes a value, such as one entry of a table. Records how to undo it. Key paths with an entry's key cost ten times as much.
  ///
  /// - Parameters:
  ///   - value: The new value; for an entry, nil removes it.
  ///   - before: The present value.
  func set<Value>(_ value: Value, over before: Value, _ write: @escaping (MemoryTransaction, Value) -> Void) {
    write(self, value)
    undo { [unowned self] in write(self, before) }
  }

  func commit() { changes.removeAll(keepingCapacity: changes.count < 10_000) }

  func rollBack() { rollBack(to: 0) }

  private func rollBack(to mark: Int) { while changes.count > mark { changes.removeLast()() } }

  func savepoint<Value>(_ body: () throws -> Value) throws -> Value {
    let mark = changes.count
    do { return try body() } catch {
      rollBack(to: mark)
      throw error
    }
  }

  // MARK: Pauses

  func pauses() throws -> [Pause] { pausesOf.values.sorted { $0.id < $1.id } }

  func addPause(_ order: PauseOrder, since: WallTime) throws -> Pause {
    lastPause += 1
    let pause = Pause(id: PauseID(lastPause), order: order, since: since)
    set(pause, over: pausesOf[pause.id]) { $0.pausesOf[pause.id] = $1 }
    return pause
  }

  func removePause(_ id: PauseID) throws { set(nil, over: pausesOf[id]) { $0.pausesOf[id] = $1 } }

  // MARK: Objectives

  func objectives() throws -> [TaskIdentifier: WallTime] { objectivesOf }

  func setObjective(_ since: WallTime?, of identifier: TaskIdentifier) throws {
    set(since, over: objectivesOf[identifier]) { $0.objectivesOf[identifier] = $1 }
  }

  func lastSuccess(of identifier: TaskIdentifier) throws -> WallTime? {
    schedules.lazy.filter { $0.key.identifier == identifier }.compactMap(\.value.lastSuccess).max()
  }

  // MARK: Requests

  func insert(_ record: RequestRecord) throws {
    guard rows[record.id.sequence] == nil else { throw StoreError.other("request \(record.id) already exists") }
    try claimKey(record)
    let row = MemoryRow(record)
    rows[row.sequence] = row
    index(row)
    undo { [unowned self] in remove(row) }
  }

  func update(_ record: RequestRecord) throws {
    let row = try known(record)
    // Keeps the fields of the submission, except for those that can change.
    var new = record
    new.request = row.record.request
    new.request.priority = record.request.priority
    new.request.uniqueKey = record.request.uniqueKey
    if let interval = record.request.repetition?.interval, new.request.repetition?.interval != nil {
      new.request.repetition?.interval = interval
    }
    try change(row, to: new, lane: record.lane)
    if record.state.isFinal { removeCheckpoint(of: row.sequence) }
  }

  func rewrite(_ record: RequestRecord) throws {
    let row = try known(record)
    let before = row.payload
    row.payload = record.request.payload
    undo { row.payload = before }
    try change(row, to: MemoryRow.kept(record), lane: record.lane)
    if record.state.isFinal { removeCheckpoint(of: row.sequence) }
  }

  func request(_ id: RequestID) throws -> RequestRecord? { row(id)?.record }

  func input(of id: RequestID) throws -> RunInput {
    row(id).map { RunInput(payload: $0.eventPayload ?? $0.payload, traceparent: $0.record.request.traceparent) } ?? RunInput(payload: [])
  }

  func submittedPayload(of id: RequestID) throws -> [UInt8] { row(id)?.payload ?? [] }

  func setEventPayload(_ payload: [UInt8]?, of id: RequestID) throws {
    guard let row = row(id) else { return }
    let before = row.eventPayload
    row.eventPayload = payload
    undo { row.eventPayload = before }
  }

  func holder(of key: String, identifier: TaskIdentifier) throws -> RequestRecord? {
    holders[OwnedKey(key, of: identifier)].flatMap { rows[$0]?.record }
  }

  func liveCount(of identifier: TaskIdentifier) throws -> Int {
    owners[identifier]?.liveCount ?? 0
  }

  func lanesWithPending() throws -> [Lane] { lanes.values.filter { $0.count > 0 }.map(\.lane) }

  func running() throws -> [RequestRecord] { runningRows.sorted().compactMap { rows[$0]?.record } }

  func claimed() throws -> [RequestRecord] { claimedRows.sorted().compactMap { rows[$0]?.record } }

  func holders(ofKeysBeginningWith prefix: String) throws -> [RequestRecord] {
    holders.filter { $0.key.key.text.utf8.starts(with: prefix.utf8) }.values.sorted().compactMap { rows[$0]?.record }
  }

  func waiting(of identifier: TaskIdentifier) throws -> [RequestRecord] {
    waitingRows(of: identifier).sorted { $0.sequence < $1.sequence }.map(\.record)
  }

  /// Examines every request.
  func live(tagged tag: String, identifier: TaskIdentifier?, after request: RequestID?, limit: Int) throws -> [RequestID] {
    let found = rows.values.lazy.map(\.record).filter { record in
      guard !record.state.isFinal, identifier.map({ $0 == record.request.identifier }) ?? true else { return false }
      guard request.map({ $0 < record.id }) ?? true else { return false }
      return record.request.tags.contains { $0.utf8.elementsEqual(tag.utf8) }
    }
    return Array(found.map(\.id).sorted().prefix(max(0, limit)))
  }

  /// Examines every request.
  func failed(of identifier: TaskIdentifier?) throws -> [RequestID] {
    rows.values.lazy.map(\.record).filter { record in
      record.state == .failed && identifier.map { $0 == record.request.identifier } ?? true
    }.map(\.id).sorted()
  }

  func firstPending(of identifier: TaskIdentifier) throws -> RequestRecord? {
    owners[identifier]?.lanes.compactMap(\.first).min().flatMap { rows[$0.id]?.record }
  }

  // MARK: Runs

  func apply(_ change: RequestChange, to id: RequestID) throws {
    guard let row = row(id) else { throw StoreError.fenced }
    var new = row.record
    try new.apply(change)
    try self.change(row, to: new, lane: nil)
    if new.state.isFinal { removeCheckpoint(of: id.sequence) }
  }

  // MARK: Rows and where they are found

  /// The row of a request; nil if it does not exist.
  func row(_ id: RequestID) -> MemoryRow? { id.origin == origin ? rows[id.sequence] : nil }

  /// The pending, claimed and blocked requests of `identifier`, unordered.
  func waitingRows(of identifier: TaskIdentifier) -> [MemoryRow] {
    guard let owner = owners[identifier] else { return [] }
    return (owner.lanes.flatMap(\.ids) + owner.claimed + owner.blocked).compactMap { rows[$0] }
  }

  private func known(_ record: RequestRecord) throws -> MemoryRow {
    guard let row = row(record.id) else { throw StoreError.other("request \(record.id) does not exist") }
    return row
  }

  /// Removes a request without recording how to undo it.
  func remove(_ row: MemoryRow) {
    unindex(row)
    rows[row.sequence] = nil
  }

  /// Restores a removed request without recording how to undo it.
  func restore(_ row: MemoryRow) {
    rows[row.sequence] = row
    index(row)
  }

  /// Writes a record.
  ///
  /// - Parameter lane: The new lane; nil means the current or last lane.
  func change(_ row: MemoryRow, to new: RequestRecord, lane: Lane?) throws {
    if new.request.uniqueKey != nil { try claimKey(new) }
    let (old, oldLane) = (row.record, row.lane)
    unindex(row)
    row.record = new
    if let lane, row.lane?.lane != lane { row.lane = nil }
    index(row, lane: lane)
    undo { [unowned self] in
      unindex(row)
      (row.record, row.lane) = (old, oldLane)
      index(row)
    }
  }

  /// Throws if another live request holds the record's key.
  private func claimKey(_ record: RequestRecord) throws {
    guard let key = record.request.uniqueKey, !record.state.isFinal,
      let holder = holders[OwnedKey(key, of: record.request.identifier)], holder != record.id.sequence
    else { return }
    throw StoreError.other("a live request of \(record.request.identifier) holds the unique key \"\(key)\"")
  }

  private func owner(of identifier: TaskIdentifier) -> MemoryOwner {
    if let owner = owners[identifier] { return owner }
    let owner = MemoryOwner()
    owners[identifier] = owner
    return owner
  }

  private func index(_ row: MemoryRow, lane: Lane? = nil) {
    if row.record.state == .pending {
      // An empty lane may have been removed.
      row.lane = row.lane.flatMap { $0.count > 0 ? $0 : nil } ?? self.lane(row.lane?.lane ?? lane ?? row.record.lane)
    }
    enter(row, isThere: true)
  }

  private func unindex(_ row: MemoryRow) { enter(row, isThere: false) }

  /// Adds a row to all indexes, or removes it from them.
  private func enter(_ row: MemoryRow, isThere: Bool) {
    let record = row.record
    let owner = owner(of: record.request.identifier)
    let step = isThere ? 1 : -1
    counts[record.state, default: 0] += step
    if !record.state.isFinal { owner.liveCount += step }
    switch record.state {
    case .pending:
      if let memory = row.lane { enter(row, in: memory, of: owner, isThere: isThere) }
      if let deadline = record.request.deadline, !record.isRelaxed { deadlines.set(key(deadline, row), isThere: isThere) }
    case .running: runningRows.set(row.sequence, isThere: isThere)
    case .blocked: owner.blocked.set(row.sequence, isThere: isThere)
    case .claimed:
      owner.claimed.set(row.sequence, isThere: isThere)
      claimedRows.set(row.sequence, isThere: isThere)
    case .succeeded, .failed, .cancelled:
      if let time = record.ended { ended.set(key(time, row), isThere: isThere) }
      return
    }
    if let key = record.request.uniqueKey { holders[OwnedKey(key, of: record.request.identifier)] = isThere ? row.sequence : nil }
    if let event = record.request.event {
      let name = ExactText(event.name)
      events[name, default: []].set(row.sequence, isThere: isThere)
      if events[name]?.isEmpty == true { events[name] = nil }
    }
  }

  private func enter(_ row: MemoryRow, in memory: MemoryLane, of owner: MemoryOwner, isThere: Bool) {
    let (due, priority) = (row.record.due.unixMilliseconds, row.record.request.priority)
    if isThere {
      if memory.count == 0 { owner.lanes.append(memory) }
      return memory.insert(row.sequence, due: due, priority: priority)
    }
    memory.remove(row.sequence, due: due, priority: priority)
    guard memory.count == 0 else { return }
    emptied += 1
    owner.lanes.removeAll { $0 === memory }
  }

  private func key(_ time: WallTime, _ row: MemoryRow) -> SortedKeys.Key { SortedKeys.Key(rank: time.unixMilliseconds, id: row.sequence) }

  /// The lane, which is added if it does not exist.
  private func lane(_ lane: Lane) -> MemoryLane {
    if let known = lanes[lane] { return known }
    let made = MemoryLane(lane)
    lanes[lane] = made
    return made
  }

  // MARK: Lanes

  /// Removes all empty lanes at once, because each removal is cheap in memory.
  func pruneLanes(limit: Int) throws -> Bool {
    // Waits until half of the lanes are empty, so that each emptied lane pays for at most two.
    guard emptied >= 1024, emptied * 2 >= lanes.count else { return false }
    emptied = 0
    lanes = lanes.filter { $0.value.count > 0 }
    return false
  }
}

extension Set {
  /// Adds an element, or removes it.
  fileprivate mutating func set(_ element: Element, isThere: Bool) { if isThere { insert(element) } else { remove(element) } }
}

extension SortedKeys {
  /// Adds a key, or removes it.
  fileprivate mutating func set(_ key: Key, isThere: Bool) { if isThere { insert(key) } else { remove(key) } }
}
