public import TaskModel

/// What a request waits for, as a drawing: its predecessors to the left of it, theirs to the left of them.
enum PredecessorGraph {
  /// Of larger graphs, this many are drawn.
  static let most = 24
  private static let (width, height, gapX, gapY) = (208, 44, 56, 16)

  /// nil if it waits for nothing.
  static func view(of record: RequestRecord, among known: [RequestID: RequestRecord]) -> View? {
    guard !record.predecessors.isEmpty else { return nil }
    var columns: [[RequestID]] = [[record.id]]
    var seen: Set<RequestID> = [record.id]
    while let last = columns.last, !last.isEmpty {
      let further = last.flatMap { id in (id == record.id ? record : known[id])?.predecessors ?? [] }
      let fresh = further.filter { seen.count < most && seen.insert($0).inserted }
      if fresh.isEmpty { break }
      columns.append(fresh)
    }
    let rows = columns.map(\.count).max() ?? 1
    var places: [RequestID: (x: Int, y: Int)] = [:]
    for (column, ids) in columns.enumerated() {
      for (row, id) in ids.enumerated() {
        let offset = (rows - ids.count) * (height + gapY) / 2
        places[id] = ((columns.count - 1 - column) * (width + gapX) + 4, offset + row * (height + gapY) + 4)
      }
    }
    var edges: [View] = []
    for (id, place) in places {
      for before in (id == record.id ? record : known[id])?.predecessors ?? [] {
        guard let from = places[before] else { continue }
        let (x1, x4) = (from.x + width, place.x)
        edges.append([
          "x1": x1, "y1": from.y + height / 2, "x2": x1 + gapX / 2, "x3": x4 - gapX / 2, "y2": place.y + height / 2, "x4": x4,
        ])
      }
    }
    let nodes = columns.joined().compactMap { id -> View? in
      guard let place = places[id] else { return nil }
      let found = id == record.id ? record : known[id]
      return [
        "x": place.x, "y": place.y, "tx": place.x + 10, "ty": place.y + 18, "sy": place.y + 35, "isOwn": id == record.id,
        "href": PagePath.request(id), "name": cut(found?.name ?? id.description), "word": found?.word ?? "no longer on record",
      ]
    }
    let items = columns.dropFirst().joined().map { id -> View in
      let found = known[id]
      return [
        "href": PagePath.request(id), "name": found?.name ?? "A request", "id": id.description,
        "badge": View(badge: found?.word ?? "no longer on record"),
      ]
    }
    return [
      "width": columns.count * (width + gapX) - gapX + 8, "height": rows * (height + gapY) - gapY + 8, "edges": edges, "nodes": nodes,
      "items": items, "label": "\(record.name) waits for \(record.predecessors.count) requests; the list below names them",
    ]
  }

  /// What fits a box: the end of an identifier says more than its beginning.
  private static func cut(_ name: String) -> String { name.count > 27 ? "…\(name.suffix(26))" : name }
}

extension RequestRecord {
  /// The requests that must end first.
  public var predecessors: [RequestID] {
    request.after.compactMap { if case .request(let id) = $0.predecessor { id } else { nil } }
  }
}
