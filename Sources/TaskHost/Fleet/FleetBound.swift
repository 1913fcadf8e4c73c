import FleetStore
import TaskModel
import TaskStore

/// Keeps the live requests of each identifier in the fleet within `fleet.max_pending`, and what is kept for each plugin within its limits.
final class FleetBound: Sendable {
  private let live: RoughCount
  /// The idempotency keys of plugins.
  private let keys = RoughCount(most: Limits.idempotencyKeys) { (plugin, session) throws(FleetError) in try session.keyCount(of: plugin) }
  /// The unique keys that are held for a while, by identifiers.
  private let windows = RoughCount(most: Limits.uniqueWindows) { (identifier, session) throws(FleetError) in
    try session.windowCount(of: identifier)
  }

  init(most: Int) {
    live = RoughCount(most: most) { (identifier, session) throws(FleetError) in try session.liveCount(of: identifier) }
  }

  /// Counts requests that are about to be added. One that is known by its idempotency key, or whose unique key is held, adds nothing.
  ///
  /// - Parameters:
  ///   - identifiers: The identifier of each.
  ///   - hasKeys: Whether one of them has a key.
  ///   - plugin: The plugin that submits them; nil for a client.
  ///   - requests: Called for the requests, and only if one of them has a key or there is no room for them.
  /// - Returns: Why they are too many; nil if they are not.
  func add(
    _ identifiers: some Sequence<TaskIdentifier>, hasKeys: Bool, by plugin: TaskIdentifier?, _ session: FleetSession,
    requests: () -> [TaskRequest]
  ) throws(FleetError) -> RequestRefusal? {
    if hasKeys, let plugin, let refusal = try addKeys(of: requests(), by: plugin, session) { return refusal }
    guard let refusal = try add(Self.counts(identifiers), session) else { return nil }
    guard hasKeys else { return refusal }
    return try add(Self.counts(Self.new(requests(), session).map(\.identifier)), session)
  }

  /// The identifiers of which submissions were refused and would be refused now, in their order.
  func full(_ session: FleetSession) throws(FleetError) -> [TaskIdentifier] {
    try live.full(session).sorted()
  }

  private static func counts(_ identifiers: some Sequence<TaskIdentifier>) -> [TaskIdentifier: Int] {
    identifiers.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }

  private func add(_ counts: [TaskIdentifier: Int], _ session: FleetSession) throws(FleetError) -> RequestRefusal? {
    try live.add(counts, session).map { identifier, live, count in
      RequestRefusal(
        .limit,
        "\(identifier) has \(live) live requests in the fleet, and with \(count) more it would have more than \(self.live.most) (fleet.max_pending): cancel some, or raise that"
      )
    }
  }

  private func addKeys(
    of requests: [TaskRequest], by plugin: TaskIdentifier, _ session: FleetSession
  ) throws(FleetError) -> RequestRefusal? {
    let texts = requests.compactMap(\.idempotencyKey)
    if !texts.isEmpty {
      // The same ones again are answered.
      if let excess = try keys.add([plugin: texts.count], session), try session.known(texts).count < Set(texts).count {
        return .tooManyKeys(of: plugin, excess.live)
      }
    }
    let held = Self.counts(requests.lazy.filter { $0.uniqueWindow != nil }.map(\.identifier))
    return try windows.add(held, session).map { .tooManyWindows(of: $0.identifier, $0.live) }
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
}
