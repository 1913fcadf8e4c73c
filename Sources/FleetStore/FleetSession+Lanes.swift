package import TaskModel
import TaskStore

// The lanes of requests, by what these need.

extension FleetSession {
  /// The lane of requests with these needs, which is made if there is none.
  package func lane(_ lane: Lane) throws(FleetError) -> Int64 {
    guard let id = try ids(of: [lane]).first else { throw .refused("it gave no lane") }
    return id
  }

  /// The same for several lanes, in their order.
  package func ids(of lanes: [Lane]) throws(FleetError) -> [Int64] {
    let rows = try ask([Self.shortWaits, Self.ask("taskhost.lane_of(u.identifier, u.gates, u.key)", of: lanes)])
    guard let found = rows.last, found.count == lanes.count else { throw .refused("it gave no lanes") }
    return (0..<found.count).compactMap { found.int($0, 0) }
  }

  /// The same, with nil for those that are not there.
  package func idsThere(of lanes: [Lane]) throws(FleetError) -> [Int64?] {
    let rows = try ask(Self.ask("(\(FleetSchema.lane(of: "u.identifier", needing: "u.gates")))", of: lanes))
    return (0..<rows.count).map { rows.int($0, 0) }
  }

  private static func ask(_ expression: String, of lanes: [Lane]) throws(FleetError) -> PostgresStatement {
    var gates: [String] = []
    for lane in lanes { gates.append(try text(of: lane.gates)) }
    return PostgresStatement(
      """
      SELECT \(expression) FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS u (identifier, gates, key, place)
      ORDER BY u.place
      """, .texts(lanes.map(\.identifier.rawValue)), .texts(gates), .texts(lanes.map(\.gates.concurrencyKey)))
  }

  /// Lets the transaction fail with ``FleetError/locked`` where it would wait for others: an application may leave its own open, and
  /// everything that the host has for its fleet would wait with this.
  static let shortWaits = PostgresStatement("SELECT set_config('lock_timeout', '200ms', true)").kept

  /// The lanes without needs of these identifiers, which a host that has joined has made.
  package func plainLanes(of identifiers: [TaskIdentifier]) throws(FleetError) -> [FleetLane] {
    let rows = try ask(
      PostgresStatement(
        "SELECT id, identifier FROM taskhost.lane WHERE gates = '' AND identifier = ANY ($1)", .texts(identifiers.map(\.rawValue))))
    return (0..<rows.count).compactMap { row in
      guard let id = rows.int(row, 0), let identifier = rows.text(row, 1).flatMap({ try? TaskIdentifier($0) }) else { return nil }
      return FleetLane(id: id, lane: Lane(identifier))
    }
  }

  /// Removes lanes that nobody uses any more, once a day. Who has asked for a lane's number may use it for a day.
  package func sweepLanes() throws(FleetError) { _ = try ask(PostgresStatement("SELECT taskhost.sweep_lanes()")) }

  static func text(of gates: RunConstraints) throws(FleetError) -> String {
    do { return try RecordText.text(of: gates) } catch { throw .refused("\(error)") }
  }
}
