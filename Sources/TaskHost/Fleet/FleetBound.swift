import FleetStore
import HostThreads
import TaskModel

/// Keeps the live requests of each identifier in the fleet within `fleet.max_pending`.
///
/// The host counts what it adds, and asks the database before it has added a tenth of what may still come. So the fleet's hosts together
/// go little beyond it, and submissions ask rarely.
final class FleetBound: Sendable {
  private struct Known {
    var count: Int
    /// How many were added here since.
    var added = 0
    /// Whether submissions were refused.
    var isFull = false
    let asked: MonotonicTime
    var live: Int { count + added }
  }

  private let most: Int
  private let known = Guarded<[TaskIdentifier: Known]>([:])
  /// How long the database is not asked again about an identifier that is full.
  private static let pause = Duration.seconds(1)

  init(most: Int) { self.most = most }

  /// Counts requests that are about to be added. One that is known by its idempotency key, or whose unique key is held, adds nothing.
  ///
  /// - Parameters:
  ///   - identifiers: The identifier of each.
  ///   - requests: Returns the requests themselves. It is called only if there is no room for them.
  /// - Returns: Why they are too many; nil if they are not.
  func add(
    _ identifiers: some Sequence<TaskIdentifier>, _ session: FleetSession, requests: () -> [TaskRequest]
  ) throws(FleetError) -> RequestRefusal? {
    guard let refusal = try add(Self.counts(identifiers), session) else { return nil }
    let requests = requests()
    guard requests.contains(where: \.hasKeys) else { return refusal }
    return try add(Self.counts(Self.new(requests, session).map(\.identifier)), session)
  }

  private static func counts(_ identifiers: some Sequence<TaskIdentifier>) -> [TaskIdentifier: Int] {
    identifiers.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }

  private func add(_ counts: [TaskIdentifier: Int], _ session: FleetSession) throws(FleetError) -> RequestRefusal? {
    for (identifier, count) in counts where needsAnswer(identifier, count) {
      let live = try session.liveCount(of: identifier)
      known.withLock { $0[identifier] = Known(count: live, isFull: $0[identifier]?.isFull == true, asked: SystemClock.now) }
    }
    return known.withLock { known in
      for (identifier, count) in counts {
        guard let live = known[identifier]?.live, live + count > most else { continue }
        known[identifier]?.isFull = true
        return RequestRefusal(
          .limit,
          "\(identifier) has \(live) live requests in the fleet, and with \(count) more it would have more than \(most) (fleet.max_pending): cancel some, or raise that"
        )
      }
      for (identifier, count) in counts { known[identifier]?.added += count }
      return nil
    }
  }

  /// The identifiers of which submissions were refused and would be refused now, in their order.
  func full(_ session: FleetSession) throws(FleetError) -> [TaskIdentifier] {
    var full: [TaskIdentifier] = []
    for identifier in known.withLock({ $0.filter(\.value.isFull).keys.sorted() }) {
      let isFull = try session.liveCount(of: identifier) >= most
      if isFull { full.append(identifier) } else { known.withLock { $0[identifier]?.isFull = false } }
    }
    return full
  }

  /// Those of the requests that would be new.
  private static func new(_ requests: [TaskRequest], _ session: FleetSession) throws(FleetError) -> [TaskRequest] {
    let known = try session.known(requests.compactMap(\.idempotencyKey))
    let keys = requests.filter { $0.onConflict != .append }.compactMap { request in
      request.uniqueKey.map { (identifier: request.identifier, key: $0) }
    }
    let held = Set(
      try session.holders(of: keys).map { FleetUniqueKey($0.identifier, $0.key) }
        + session.windows(of: keys).map { FleetUniqueKey($0.identifier, $0.key) })
    return requests.filter { request in
      if let key = request.idempotencyKey, known[key] != nil { return false }
      guard let key = request.uniqueKey, request.onConflict != .append else { return true }
      return !held.contains(FleetUniqueKey(request.identifier, key))
    }
  }

  private func needsAnswer(_ identifier: TaskIdentifier, _ count: Int) -> Bool {
    known.withLock { known in
      guard let one = known[identifier] else { return true }
      guard one.live + count <= most else { return SystemClock.now - one.asked >= Self.pause }
      return one.added + count > (most - one.count) / 10
    }
  }
}
