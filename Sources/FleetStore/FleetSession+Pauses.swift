package import TaskModel
import TaskStore

/// The pauses of a fleet that are in force.
package struct FleetPauses: Sendable {
  /// The numbers of a fleet's pauses begin here, far from those of a host's own, so that people can tell them apart.
  package static let firstID = PauseID(1_000_001)

  /// Changes with them.
  package let mark: String
  /// Oldest first.
  package let pauses: [Pause]

  /// Reads what `taskhost.pauses` gives; nil if that is nothing.
  init?(_ json: [UInt8]?) {
    let texts = RecordText.texts(json)
    guard let mark = texts.first else { return nil }
    self.mark = mark
    pauses = stride(from: 1, to: texts.count - 6, by: 7).compactMap { start in
      guard let number = Int64(texts[start]), let since = Int64(texts[start + 5]) else { return nil }
      let order = PauseOrder(
        filter: texts[start + 1], by: texts[start + 2], user: UInt32(texts[start + 3]),
        reason: texts[start + 4].isEmpty ? nil : texts[start + 4],
        until: Int64(texts[start + 6]).map { WallTime(unixMilliseconds: $0) }, isOfFleet: true)
      return Pause(id: PauseID(number), order: order, since: WallTime(unixMilliseconds: since))
    }
  }
}

extension FleetSession {
  /// The pauses in force, oldest first.
  package func pauses() throws(FleetError) -> [Pause] {
    FleetPauses(try ask(PostgresStatement("SELECT taskhost.pauses('')")).bytes(0, 0))?.pauses ?? []
  }

  /// Begins a pause: from its commit on, no host claims what it selects. Hosts are told.
  ///
  /// - Parameter identifiers: What its filter selects; none: all.
  package func add(_ order: PauseOrder, of identifiers: [IdentifierPattern]) throws(FleetError) -> Pause {
    let rows = try ask(
      PostgresStatement(
        """
        INSERT INTO taskhost.pause (filter, likes, author, author_id, reason, since, until)
        VALUES ($1, $2, $3, $4, $5, taskhost.now_ms(), $6) RETURNING id, since
        """, .text(order.filter), .texts(identifiers.map(Self.like)), .text(order.by), .int(order.user.map(Int64.init)),
        .text(order.reason), .int(order.until?.unixMilliseconds)))
    guard let id = rows.int(0, 0), let since = rows.int(0, 1) else { throw .refused("it gave no number for the pause") }
    try notify()
    return Pause(id: PauseID(id), order: order, since: WallTime(unixMilliseconds: since))
  }

  /// Ends pauses, and tells the hosts. Returns those that were there still.
  package func end(_ pauses: [Pause]) throws(FleetError) -> [Pause] {
    guard !pauses.isEmpty else { return [] }
    let rows = try ask(
      PostgresStatement("DELETE FROM taskhost.pause WHERE id = ANY ($1) RETURNING id", .ints(pauses.map(\.id.number))))
    try notify()
    let ended = Set((0..<rows.count).compactMap { rows.int($0, 0) })
    return pauses.filter { ended.contains($0.id.number) }
  }

  /// The same pattern for LIKE. Of its own signs, identifiers have only one.
  private static func like(_ pattern: IdentifierPattern) -> String {
    let hasMore = pattern.text.hasSuffix("*")
    let start = hasMore ? String(pattern.text.dropLast()) : pattern.text
    return start.replacing("_", with: #"\_"#) + (hasMore ? "%" : "")
  }
}
