public import TaskFilters
public import TaskModel

extension SchedulerCore {
  /// Requests that one turn sets aside at most, so that it stays short however many a pause holds. The next turn goes on.
  static let setAsideAtOnce = 500
  /// Due requests of a lane that are looked at together while a pause looks at requests.
  static let lookedAtTogether = 100

  // MARK: Beginning and ending pauses

  /// Begins a pause. Live runs continue; what was handed out ahead comes back first.
  ///
  /// - Parameter isDry: Whether only to check it: the answer then has the number 0.
  func pause(_ order: PauseOrder, isDry: Bool = false, _ transaction: any StoreTransaction, now: WallTime) throws -> Pause {
    let filter = try order.checkedFilter(now: now)
    var book = PauseBook()
    do throws(FilterError) { try book.add(Pause(id: PauseID(0), order: order, since: now)) } catch { throw error.refusal() }
    guard pauses.own.count < Limits.pauses else {
      throw RequestRefusal(.limit, "\(Limits.pauses) pauses are in force, the most: end some, as with taskhost resume --all")
    }
    guard !isDry else { return book.pauses[0] }
    // Which of them the pause holds is seen once they are back.
    let ahead = Set(claims.values.map(\.entry.identifier)).filter { filter.mayConcern($0) }
    if let first = ahead.first { throw ClaimedAhead(identifier: ahead.count == 1 ? first : nil) }
    let pause = try transaction.addPause(order, since: now)
    var changed = pauses
    do throws(FilterError) { try changed.add(pause) } catch { throw error.refusal() }
    change(changed)
    return pause
  }

  /// Ends pauses: what no other pause holds may begin. Refused if none is selected.
  func resume(_ selection: PauseSelection, _ transaction: any StoreTransaction, now: WallTime) throws -> [Pause] {
    let selected = pauses.own.filter(selection.selects)
    guard !selected.isEmpty else {
      let refusal = Self.noPause(selection, pauses.own)
      guard pauses.pauses.contains(where: \.order.isOfFleet) else { throw refusal }
      throw RequestRefusal(
        refusal.code, refusal.message + "; the fleet has pauses, which end by their numbers or with --fleet", field: refusal.field)
    }
    try end(selected, transaction, now: now)
    return selected
  }

  /// Ends the pauses whose time is over.
  func endPauses(_ transaction: any StoreTransaction, now: WallTime) throws {
    guard let next = pauses.nextEnd, next <= now else { return }
    let ended = pauses.ended(by: now)
    try end(ended, transaction, now: now)
    turn.endedPauses += ended
  }

  private func end(_ selected: [Pause], _ transaction: any StoreTransaction, now: WallTime) throws {
    for pause in selected { try transaction.removePause(pause.id) }
    let before = pauses
    var changed = pauses
    changed.remove(Set(selected.map(\.id)))
    change(changed)
    try restartObjectives(shutBefore: before, transaction, now: now)
  }

  /// Takes the fleet's pauses as they are now. What was handed out ahead of what they hold comes back first.
  func set(ofFleet pauses: [Pause], of identifiers: Set<TaskIdentifier>, _ transaction: any StoreTransaction, now: WallTime) throws {
    let before = self.pauses
    var book = before
    book.set(ofFleet: pauses, of: identifiers)
    let ahead = Set(claims.values.map(\.entry.identifier)).filter { before.shut($0) == nil && book.shut($0) != nil }
    if let first = ahead.first { throw ClaimedAhead(identifier: ahead.count == 1 ? first : nil) }
    change(book)
    try restartObjectives(shutBefore: before, transaction, now: now)
  }

  private func change(_ book: PauseBook) {
    turn.pausesBefore = turn.pausesBefore ?? pauses
    pauses = book
  }

  /// That no pause is selected.
  ///
  /// - Parameter pauses: Those that there are.
  static func noPause(_ selection: PauseSelection, _ pauses: [Pause]) -> RequestRefusal {
    let more = pauses.count > 10 ? ", and \(pauses.count - 10) more" : ""
    let there =
      pauses.isEmpty
      ? "nothing is paused" : "there are: " + pauses.prefix(10).map { "\($0.id) (\($0.subject))" }.joined(separator: ", ") + more
    switch selection {
    case .id(let id): return RequestRefusal(.notFound, "there is no pause \(id); \(there)", field: "id")
    case .filter(""): return RequestRefusal(.notFound, "there is no pause of everything; \(there)", field: "filter")
    case .filter(let text):
      return RequestRefusal(.notFound, "there is no pause of \(text.escapingControlCharacters); \(there)", field: "filter")
    case .all: return RequestRefusal(.notFound, "nothing is paused")
    }
  }

  // MARK: What they hold

  /// What a pause does to a lane: nil if it does nothing, else when it opens by itself, `distantFuture` if it does not.
  func pausedUntil(_ lane: LaneState, of handler: HandlerState, now: WallTime) -> WallTime? {
    guard !pauses.isEmpty else { return nil }
    var until = handler.pausedUntil
    if let id = lane.gates.pause, let pause = pauses.pause(id) { until = max(until ?? now, pause.order.until ?? .distantFuture) }
    return until.flatMap { now < $0 ? $0 : nil }
  }

  /// Puts a due request aside if a pause that looks at requests holds it.
  func setAside(_ offer: DueRequest, _ handler: HandlerState, _ transaction: any StoreTransaction, now: WallTime) throws -> Bool {
    guard var record = try transaction.request(offer.id) else { return false }
    var shown = record
    if pauses.readsPayload { shown.request.payload = try legiblePayload(of: offer.id, transaction) ?? [] }
    guard let pause = pauses.holder(of: shown, now: now) else { return false }
    record.setAside = pause.id
    try transaction.update(record)
    turn.changes += 1
    turn.setAside += 1
    handler.becamePending(record)
    return true
  }
}

extension PauseOrder {
  /// Checks the order, and reads its filter.
  public func checkedFilter(now: WallTime) throws(RequestRefusal) -> RequestFilter {
    try check(now: now)
    let read: RequestFilter
    do throws(FilterError) { read = try RequestFilter(filter, now: now) } catch { throw error.refusal() }
    guard read.scan.states.isEmpty else {
      throw RequestRefusal(
        .invalid, "filter: a pause holds whatever would begin, so state has no place in it: leave it out", field: "filter")
    }
    guard !isOfFleet || read.identifiersAlone != nil else {
      throw RequestRefusal(
        .invalid, "filter: a pause of the fleet selects by identifier alone: leave out the rest, or pause each host by itself",
        field: "filter")
    }
    return read
  }
}

extension RequestFilter {
  /// Whether requests of the identifier can match.
  fileprivate func mayConcern(_ identifier: TaskIdentifier) -> Bool {
    scan.identifiers.isEmpty || scan.identifiers.contains { $0.matches(identifier) }
  }
}
