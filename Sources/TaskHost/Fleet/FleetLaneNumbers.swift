import FleetStore
import HostThreads
import TaskModel

/// The numbers that lanes have in the fleet's database, as far as one connection has asked for them. It asks anew after an hour,
/// because unused lanes are removed, see ``FleetSession/sweepLanes()``. It learns no number from a claimed request, whose lane may be removed soon.
struct FleetLaneNumbers {
  private var ids: [Lane: Int64] = [:]
  /// When the oldest of them was asked for, by the boot clock.
  private var since = SystemClock.bootNanoseconds

  private static let most = 20_000
  private static let longest: Int64 = 3600 * 1_000_000_000

  mutating func note(_ id: Int64, of lane: Lane) {
    if ids.count >= Self.most { ids = [:] }
    ids[lane] = id
  }

  private mutating func note(_ ids: [Lane: Int64]) { for (lane, id) in ids { note(id, of: lane) } }

  func know(_ lane: Lane) -> Bool { ids[lane] != nil }

  private mutating func forgetOld() {
    let now = SystemClock.bootNanoseconds
    if now - since > Self.longest { (ids, since) = ([:], now) }
  }

  /// The number of a lane, which the database makes if it has none.
  mutating func id(of lane: Lane, _ session: FleetSession) throws(FleetError) -> Int64 {
    forgetOld()
    if let known = ids[lane] { return known }
    let id = try session.lane(lane)
    note(id, of: lane)
    return id
  }

  /// The numbers of several lanes, in their order.
  mutating func ids(of lanes: some Collection<Lane>, _ session: FleetSession) throws(FleetError) -> [Int64] {
    forgetOld()
    let found = known(lanes)
    guard found.contains(nil) else { return found.compactMap(\.self) }
    let unknown = Self.unknown(lanes, found)
    let learned = Dictionary(uniqueKeysWithValues: zip(unknown, try session.ids(of: unknown)))
    note(learned)
    let all = zip(lanes, found).compactMap { $1 ?? learned[$0] }
    guard all.count == found.count else { throw .refused("it gave no lanes") }
    return all
  }

  /// The same, but if another transaction is making one of them, nil for all that are not there.
  mutating func idsOfUnlocked(_ lanes: some Collection<Lane>, _ session: FleetSession) throws(FleetError) -> [Int64?] {
    do throws(FleetError) { return try ids(of: lanes, session) } catch {
      guard error == .locked else { throw error }
      let found = known(lanes)
      let unknown = Self.unknown(lanes, found)
      let learned = Dictionary(uniqueKeysWithValues: zip(unknown, try session.idsThere(of: unknown))).compactMapValues(\.self)
      note(learned)
      return zip(lanes, found).map { $1 ?? learned[$0] }
    }
  }

  /// Those of the lanes of which no number was found.
  private static func unknown(_ lanes: some Collection<Lane>, _ found: [Int64?]) -> [Lane] {
    Array(Set(zip(lanes, found).lazy.filter { $1 == nil }.map(\.0)))
  }

  /// Neighbours are often the same one: to see that takes less than to look it up.
  private func known(_ lanes: some Collection<Lane>) -> [Int64?] {
    var found: [Int64?] = []
    found.reserveCapacity(lanes.count)
    var last: (lane: Lane, id: Int64?)?
    for lane in lanes {
      if last?.lane != lane { last = (lane, ids[lane]) }
      found.append(last?.id)
    }
    return found
  }
}
