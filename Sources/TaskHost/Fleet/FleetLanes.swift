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
  /// When they are asked for again, if one of them was not there.
  private var plainDue = MonotonicTime.distantFuture
  /// Those in which requests were ready, as they were found.
  private(set) var found: [FleetLane] = []
  /// Lanes with needs that this host does not know.
  private var unreadable: Set<Int64> = []
  /// Where the next search begins.
  private var start: Int64 = 0
  /// When the next search is due, and how long after the last one that is.
  private var due = MonotonicTime(nanoseconds: 0)
  private var pause = Self.shortest
  /// Whether a look had no search because the last one was a moment ago, or only a part of one: it has not seen all that came into other lanes.
  private var isOwed = false
  /// Whether something may have come into other lanes since they were all looked at.
  private var isUrgent = true
  /// Whether the last search found lanes, and whether something was claimed since.
  private var (hasFound, hasClaimed) = (false, false)
  /// Whether much is found of which something can be claimed: then each look has a search.
  private var isRich = false

  /// The most that are found at a time.
  private static let mostFound = 256
  /// How often other lanes are searched at most.
  private static let shortest = Duration.milliseconds(20)
  /// The same while there are many lanes and nothing in them can be claimed, from the first time on; each time, twice as long.
  private static let vain = Duration.milliseconds(100)
  private static let longest = Duration.seconds(5)
  /// The same while it passes over many lanes, of which nobody has said that something has come into them.
  private static let leisurely = Duration.milliseconds(250)

  var all: [FleetLane] { (plain ?? []) + found }
  /// Those that are watched: whether requests are ready in them still. Also those that this host cannot read, so that they are not found anew.
  var watched: [Int64] { found.map(\.id) + unreadable }

  /// Whether one of those without needs was not there, and may be by now.
  var lacksPlain: Bool { SystemClock.now >= plainDue }

  mutating func set(_ plain: [FleetLane], isWhole: Bool) {
    self.plain = plain
    plainDue = isWhole ? .distantFuture : SystemClock.now + Self.longest
  }

  /// The search that belongs to the next look; nil if the last one was a moment ago.
  ///
  /// - Parameter wanted: What the host could begin. Other lanes with the same needs, apart from their concurrency keys, are passed over.
  mutating func search(_ wanted: [FleetDemand]) -> FleetLaneSearch? {
    isOwed = false
    let identifiers = Set(wanted.map(\.identifier))
    guard !identifiers.isEmpty else { return nil }
    guard SystemClock.now >= due || isRich && found.count < Self.mostFound / 2 else {
      isOwed = true
      return nil
    }
    // Others have their turn.
    if found.count > Self.mostFound * 3 / 4 { found.removeFirst(found.count - Self.mostFound * 3 / 4) }
    let open = Set(wanted.map(\.lane))
    let shut = found.filter { identifiers.contains($0.lane.identifier) && !open.contains($0.id) }.map(\.lane.withoutKey)
    return FleetLaneSearch(identifiers.sorted(), from: start, besides: Set(shut))
  }

  /// How long until a search is made that a look has not made; nil if none is due.
  var rest: Duration? { isOwed ? max(.zero, due - SystemClock.now) : nil }

  /// Something may have come into other lanes.
  mutating func told() {
    isUrgent = true
    pause = min(pause, Self.vain)
    due = min(due, SystemClock.now + pause)
  }

  /// Notes what a look has found.
  ///
  /// - Returns: Whether there are new lanes.
  mutating func note(_ exchange: FleetExchange) -> Bool {
    found.removeAll { !exchange.waiting.contains($0.id) }
    unreadable.formIntersection(exchange.waiting)
    if !exchange.claimed.isEmpty { hasClaimed = true }
    guard let search = exchange.search else { return false }
    // It has looked at a part only, and goes on soon.
    isOwed = search.reached != start
    start = search.reached
    found += search.lanes
    unreadable.formUnion(search.unreadable)
    // What this one has found can be claimed by the next look at the earliest.
    let isVain = hasFound && !hasClaimed
    (hasFound, hasClaimed) = (!search.lanes.isEmpty, false)
    pause = isVain ? min(max(pause, Self.vain) * 2, Self.longest) : isUrgent ? Self.shortest : Self.leisurely
    if !isOwed { isUrgent = false }
    due = SystemClock.now + pause
    isRich = !isVain && search.lanes.count > 1
    return !search.lanes.isEmpty
  }
}

extension Lane {
  /// The lane of those that need the same, apart from a turn of their own.
  fileprivate var withoutKey: Lane {
    var lane = self
    lane.gates.concurrencyKey = nil
    return lane
  }
}
