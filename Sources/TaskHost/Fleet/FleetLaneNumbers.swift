import FleetStore
import TaskModel

/// The numbers that lanes have in the fleet's database, as far as one connection has needed them.
struct FleetLaneNumbers {
  private var ids: [Lane: Int64] = [:]

  private static let most = 20_000

  mutating func note(_ id: Int64, of lane: Lane) {
    if ids.count >= Self.most { ids = [:] }
    ids[lane] = id
  }

  func know(_ lane: Lane) -> Bool { ids[lane] != nil }

  /// The number of a lane, which the database makes if it has none.
  mutating func id(of lane: Lane, _ session: FleetSession) throws(FleetError) -> Int64 {
    if let known = ids[lane] { return known }
    let id = try session.lane(lane)
    note(id, of: lane)
    return id
  }

  /// The numbers of several lanes, in their order.
  mutating func ids(of lanes: some Collection<Lane>, _ session: FleetSession) throws(FleetError) -> [Int64] {
    let found = known(lanes)
    guard found.contains(nil) else { return found.compactMap(\.self) }
    let unknown = Array(Set(zip(lanes, found).lazy.filter { $1 == nil }.map(\.0)))
    let learned = Dictionary(uniqueKeysWithValues: zip(unknown, try session.ids(of: unknown)))
    for (lane, id) in learned { note(id, of: lane) }
    let all = zip(lanes, found).compactMap { $1 ?? learned[$0] }
    guard all.count == found.count else { throw .refused("it gave no lanes") }
    return all
  }

  /// The same, but if another transaction is making one of them, nil for all that are not known.
  mutating func idsOfUnlocked(_ lanes: some Collection<Lane>, _ session: FleetSession) throws(FleetError) -> [Int64?] {
    do throws(FleetError) { return try ids(of: lanes, session) } catch {
      guard error == .locked else { throw error }
      return known(lanes)
    }
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
