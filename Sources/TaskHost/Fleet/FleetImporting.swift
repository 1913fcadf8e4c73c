package import FleetStore
package import TaskModel
package import TaskStore

/// Moves the requests of a store into a fleet: `taskhost fleet import`.
package enum FleetImporting {
  /// What was imported, or would be.
  package struct Report: Sendable {
    /// Requests that stay in the store for one reason.
    package struct Left: Sendable {
      package let identifier: TaskIdentifier
      package let why: FleetImportPlan.Stay
      package var count = 0
      /// The oldest one.
      package let first: RequestID
    }

    package var requests = 0
    package var deadLetters = 0
    /// Ended ones, for the keys that stand for them.
    package var ended = 0
    package var keys = 0
    /// Idempotency keys that the fleet has for other submissions.
    package var keysLeft = 0
    package var windows = 0
    package var alreadyThere = 0
    /// Ended requests that stay in the store's history.
    package var endedLeft = 0
    package var left: [Left] = []
    /// Whether a host had the store open.
    package var isOpen = false
  }

  /// Why nothing was imported.
  package enum Failure: Error, Sendable {
    case archive(StoreCareError)
    case fleet(FleetError)
    /// A host had the store open when it was exported, or was killed before.
    case open
  }

  /// Reads an archive, and adds what it has.
  ///
  /// - Parameters:
  ///   - name: Its name for errors.
  ///   - identifiers: Those whose requests are moved.
  package static func run(
    from descriptor: Int32, named name: String, of identifiers: [IdentifierPattern], into address: String, isTrial: Bool,
    _ step: StoreStep.Observer
  ) throws(Failure) -> Report {
    let isWanted = { (identifier: TaskIdentifier) in identifiers.contains { $0.matches(identifier) } }
    let archive: ArchivedRequests
    do throws(StoreCareError) { archive = try ArchivedRequests(from: descriptor, named: name, of: isWanted, step) } catch {
      throw .archive(error)
    }
    // Its host would run them too.
    guard isTrial || !archive.isOpen else { throw .open }
    do throws(FleetError) {
      let session = try FleetSession(address, name: "fleet import", patience: .seconds(60))
      guard archive.origin != session.origin else { throw .refused("the archive is one of this fleet") }
      return try move(archive, isWanted, session, isTrial: isTrial, step)
    } catch { throw .fleet(error) }
  }

  /// How often it is tried if keys change hands meanwhile.
  private static let mostTries = 5

  private static func move(
    _ archive: ArchivedRequests, _ isWanted: (TaskIdentifier) -> Bool, _ session: FleetSession, isTrial: Bool,
    _ step: StoreStep.Observer
  ) throws(FleetError) -> Report {
    var triesLeft = mostTries
    while true {
      triesLeft -= 1
      let known = try known(archive, isWanted, session)
      let plan = FleetImportPlan(archive, of: isWanted, known: known)
      var report = Report(plan, archive)
      let arrivals = plan.arrivals(
        isTrial ? [] : try session.draw(plan.idCount), known: known.imported, windows: archive.windows)
      guard !isTrial else { return report }
      do throws(FleetError) {
        let added = try session.bringIn(arrivals) { step(StoreStep("writing", done: $0, of: arrivals.requests.count)) }
        (report.keys, report.windows) = (Int(added.keys), Int(added.windows))
        // Somebody may have submitted with some of them meanwhile.
        report.keysLeft += arrivals.keys.count - report.keys
      } catch {
        guard error == .changed, triesLeft > 0 else { throw error }
        continue
      }
      if !arrivals.requests.isEmpty { try session.notify() }
      return report
    }
  }

  /// What the fleet has of what the archive has.
  private static func known(
    _ archive: ArchivedRequests, _ isWanted: (TaskIdentifier) -> Bool, _ session: FleetSession
  ) throws(FleetError) -> FleetImportPlan.Known {
    var known = FleetImportPlan.Known()
    known.imported = try session.imported(from: archive.origin)
    let records = archive.live.map(\.record).filter { isWanted($0.request.identifier) && known.imported[$0.id] == nil }
    let keys = records.compactMap { record in record.request.uniqueKey.map { (record.request.identifier, $0) } }
    known.uniqueKeys = Set(try session.holders(of: keys).map { FleetUniqueKey($0.identifier, $0.key) })
    let named = records.compactMap(\.request.idempotencyKey) + archive.keys.map(\.key)
    known.idempotencyKeys = Set(try session.known(named).keys)
    return known
  }
}

extension FleetImporting.Report {
  init(_ plan: FleetImportPlan, _ archive: ArchivedRequests) {
    deadLetters = plan.going.count { $0.record.state == .failed }
    requests = plan.going.count - deadLetters
    ended = plan.ended.count
    endedLeft = archive.endedCount + archive.ended.count - ended
    let coming = Set((plan.going + plan.ended).map(\.record.id))
    (keys, keysLeft) = (plan.keys.count, plan.keysLeft)
    windows = archive.windows.count { coming.contains($0.request) }
    (alreadyThere, isOpen) = (plan.alreadyThere, archive.isOpen)
    for (record, why) in plan.staying {
      let identifier = record.request.identifier
      if let index = left.firstIndex(where: { $0.identifier == identifier && $0.why == why }) {
        left[index].count += 1
      } else {
        left.append(Left(identifier: identifier, why: why, count: 1, first: record.id))
      }
    }
  }
}

extension FleetImportPlan.Stay {
  /// The name of the reason.
  package var code: String {
    switch self {
    case .otherIdentifier: "other_identifier"
    case .running: "running"
    case .unsupported: "unsupported"
    case .uniqueKey: "unique_key"
    case .idempotencyKey: "idempotency_key"
    case .incomplete: "incomplete"
    case .together: "together"
    }
  }

  /// The reason as a sentence about such requests.
  package var sentence: String {
    switch self {
    case .otherIdentifier: "the identifier is not of the fleet"
    case .running: "they were running: start the host, stop it, and export again"
    case .unsupported(let why): why
    case .uniqueKey: "a live request of the fleet has the unique key"
    case .idempotencyKey: "the fleet has the idempotency key"
    case .incomplete: "they wait for requests that the archive does not have"
    case .together: "they wait for others that stay, or others that stay wait for them"
    }
  }
}
