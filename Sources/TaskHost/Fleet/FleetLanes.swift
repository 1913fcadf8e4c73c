import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

/// The lanes of the fleet that a host asks for: those without needs always, and others while requests are ready in them.
///
/// There may be as many lanes as concurrency keys. A host knows few of them at a time, and looks for others in turn.
struct FleetLanes {
  /// Those without needs; nil until they were asked for on this connection.
  private(set) var plain: [FleetLane]?
  /// Those in which requests were ready, as they were found.
  private(set) var found: [FleetLane] = []
  /// Lanes with needs that this host does not know.
  private var unreadable: Set<Int64> = []
  /// Where the next search begins.
  private var start: Int64 = 0
  /// When the next search is due. While much is found, each look has one.
  private var due = MonotonicTime(nanoseconds: 0)
  private var isRich = false
  /// The numbers of lanes, for what goes back and what is submitted.
  private var ids: [Lane: Int64] = [:]

  /// The most that are found at a time, and the most numbers that are kept.
  private static let mostFound = 256
  private static let mostIDs = 20_000
  /// How often other lanes are searched.
  private static let pause = Duration.milliseconds(20)

  var all: [FleetLane] { (plain ?? []) + found }
  /// Those that are watched: whether requests are ready in them still. Also those that this host cannot read, so that they are not found anew.
  var watched: [Int64] { found.map(\.id) + unreadable }

  mutating func set(plain lanes: [FleetLane]) {
    plain = lanes
    for lane in lanes { ids[lane.lane] = lane.id }
  }

  /// The search that belongs to the next look; nil if the last one was a moment ago.
  mutating func search(_ identifiers: [TaskIdentifier]) -> FleetLaneSearch? {
    let now = SystemClock.now
    guard now >= due || isRich && found.count < Self.mostFound / 2 else { return nil }
    due = now + Self.pause
    // Others have their turn.
    if found.count > Self.mostFound * 3 / 4 { found.removeFirst(found.count - Self.mostFound * 3 / 4) }
    return FleetLaneSearch(identifiers, from: start)
  }

  /// How long until the next search is due; nil if that is now.
  var rest: Duration? {
    let rest = due - SystemClock.now
    return rest > .zero ? rest : nil
  }

  /// Notes what a look has found.
  ///
  /// - Returns: Whether there are new lanes.
  mutating func note(_ exchange: FleetExchange) -> Bool {
    found.removeAll { !exchange.waiting.contains($0.id) }
    unreadable.formIntersection(exchange.waiting)
    guard let search = exchange.search else { return false }
    start = search.reached
    found += search.lanes
    unreadable.formUnion(search.unreadable)
    isRich = search.lanes.count > 1
    return !search.lanes.isEmpty
  }

  /// The number of a lane that was claimed from.
  mutating func note(_ id: Int64, of lane: Lane) {
    if ids.count >= Self.mostIDs { ids = Dictionary((plain ?? []).map { ($0.lane, $0.id) }) { first, _ in first } }
    ids[lane] = id
  }

  /// The number of a lane; nil if it is to be asked for.
  func id(of lane: Lane) -> Int64? { ids[lane] }
}
