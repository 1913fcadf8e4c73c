import TaskFilters
public import TaskModel

/// The pauses in force, with their filters read once.
///
/// A pause whose filter names identifiers alone, or nothing, shuts all lanes of a handler. Any other pause looks at each request when it is due,
/// once: what it holds is set aside in a lane of its own (``RunConstraints/pause``), which opens when the pause ends.
public struct PauseBook: Sendable {
  private struct Entry: Sendable {
    let pause: Pause
    let filter: RequestFilter
    /// The identifiers that it shuts, empty: all. Nil if it looks at requests.
    let identifiers: [IdentifierPattern]?

    /// What it may hold at all: of a pause of the fleet, the fleet's identifiers; nil for all.
    let scope: Set<TaskIdentifier>?

    func shuts(_ identifier: TaskIdentifier) -> Bool {
      guard scope?.contains(identifier) != false else { return false }
      return identifiers.map { $0.isEmpty || $0.contains { $0.matches(identifier) } } ?? false
    }
  }

  private var entries: [Entry] = []
  /// Those that look at requests.
  private var looking: [Entry] = []
  /// Whether a pause looks at a request's payload.
  private(set) var readsPayload = false
  /// When the first of the host's own ends by itself; nil if none does. The fleet's database says when one of its pauses has ended.
  private(set) var nextEnd: WallTime?

  /// No pauses.
  init() {}

  /// Reads the filters of pauses that a store kept. Those that have ended by now are left in: ``ended(by:)`` has them. One whose filter cannot be
  /// read holds everything, until somebody ends it.
  init(_ pauses: [Pause]) throws {
    for pause in pauses {
      do { try add(pause) } catch { try add(pause, filter: RequestFilter("identifier:*", now: pause.since)) }
    }
  }

  /// The pauses, oldest first.
  public var pauses: [Pause] { entries.map(\.pause) }
  /// Those of this host alone.
  var own: [Pause] { pauses.filter { !$0.order.isOfFleet } }
  var isEmpty: Bool { entries.isEmpty }
  /// Whether a pause looks at requests, which are set aside when they are due.
  var looksAtRequests: Bool { !looking.isEmpty }

  /// Reads a pause's filter and adds it.
  ///
  /// - Parameter scope: What it may hold at all; nil for all.
  mutating func add(_ pause: Pause, of scope: Set<TaskIdentifier>? = nil) throws(FilterError) {
    // since and until of the filter count back from the moment at which the pause was made.
    add(pause, filter: try RequestFilter(pause.order.filter, now: pause.since), of: scope)
  }

  private mutating func add(_ pause: Pause, filter: RequestFilter, of scope: Set<TaskIdentifier>? = nil) {
    entries.append(Entry(pause: pause, filter: filter, identifiers: filter.identifiersAlone, scope: scope))
    recount()
  }

  mutating func remove(_ ids: Set<PauseID>) {
    entries.removeAll { ids.contains($0.pause.id) }
    recount()
  }

  /// Takes these for the fleet's pauses, instead of those that were there.
  ///
  /// - Parameter scope: The fleet's identifiers.
  mutating func set(ofFleet pauses: [Pause], of scope: Set<TaskIdentifier>) {
    entries.removeAll { $0.pause.order.isOfFleet }
    for pause in pauses {
      // A newer host may have made one with a filter that this one cannot read: what it holds, the database holds.
      try? add(pause, of: scope)
    }
    entries.sort { ($0.pause.since, $0.pause.id) < ($1.pause.since, $1.pause.id) }
    recount()
  }

  private mutating func recount() {
    looking = entries.filter { $0.identifiers == nil }
    readsPayload = looking.contains { $0.filter.scan.readsPayload }
    nextEnd = own.compactMap(\.order.until).min()
  }

  /// Those that have ended by themselves.
  func ended(by now: WallTime) -> [Pause] { own.filter { !$0.isInForce(at: now) } }

  func pause(_ id: PauseID) -> Pause? { entries.first { $0.pause.id == id }?.pause }

  /// When the last of the pauses ends that shut all lanes of an identifier: `distantFuture` if one ends only by hand. Nil if none does.
  func shut(_ identifier: TaskIdentifier) -> WallTime? {
    entries.lazy.filter { $0.shuts(identifier) }.map { $0.pause.order.until ?? .distantFuture }.max()
  }

  /// The same at a moment: nil too once all have ended.
  func shut(_ identifier: TaskIdentifier, now: WallTime) -> WallTime? {
    entries.isEmpty ? nil : shut(identifier).flatMap { now < $0 ? $0 : nil }
  }

  /// A pause that looks at requests and holds this one, which has its payload if ``readsPayload``. Of several, the one that lasts longest.
  func holder(of record: RequestRecord, now: WallTime) -> Pause? {
    looking.filter { $0.pause.isInForce(at: now) && $0.filter.accepts(record) }.map(\.pause)
      .max { ($0.order.until ?? .distantFuture) < ($1.order.until ?? .distantFuture) }
  }

  /// All pauses that hold a request, oldest first. Without its payload, only a request that was set aside is known to be held by what it says.
  public func holding(_ record: RequestRecord, now: WallTime) -> [Pause] {
    entries.filter { entry in
      entry.pause.isInForce(at: now)
        && (entry.shuts(record.request.identifier) || record.setAside == entry.pause.id
          || entry.identifiers == nil && entry.filter.accepts(record))
    }.map(\.pause)
  }
}

extension Pause {
  /// What a submitter of a request that it holds is told.
  func note(at now: WallTime) -> String { "it waits: \(sentence(at: now)); to end that: \(remedy)" }

  /// Who has paused what, for how long and why, without a full stop.
  public func sentence(at now: WallTime) -> String {
    let reason = order.reason.map { ": \($0)" } ?? ""
    let end = order.until.map { ", for another \(SchedulerCore.text($0 - now))" } ?? ", until somebody ends it"
    return "\(order.by) has paused \(subject)\(end)\(reason)"
  }
}
