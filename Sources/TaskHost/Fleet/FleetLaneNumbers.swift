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

  /// The number of a lane, which the database makes if it has none.
  mutating func id(of lane: Lane, _ session: FleetSession) throws(FleetError) -> Int64 {
    if let known = ids[lane] { return known }
    let id = try session.lane(lane)
    note(id, of: lane)
    return id
  }

  /// Asks for the numbers of several lanes at once, as far as they are not known.
  mutating func learn(_ needed: some Sequence<Lane>, _ session: FleetSession) throws(FleetError) {
    let unknown = Array(Set(needed.lazy.filter { [ids] in ids[$0] == nil }))
    guard unknown.count > 1 else { return }
    for (lane, id) in zip(unknown, try session.ids(of: unknown)) { note(id, of: lane) }
  }
}
