import TaskModel

/// The ids of a forecast's requests. Its store has ids of one origin only: requests of the fleet get others for the time of the forecast.
struct ForecastAliases {
  /// The origin of the store.
  let origin: UInt64?
  private var names: [RequestID: RequestID] = [:]
  private var aliases: [RequestID: RequestID] = [:]

  /// Gives the requests of another origin than the first one's new ids, also where others wait for them.
  init(_ queue: inout ForecastQueue) {
    origin = queue.requests.first?.id.origin
    guard let origin else { return }
    var last = queue.requests.reduce(0) { max($0, $1.id.sequence, $1.run?.sequence ?? 0) }
    for index in queue.requests.indices where queue.requests[index].id.origin != origin {
      last = last.adding(saturating: 1)
      let alias = RequestID(sequence: last, origin: origin)
      names[alias] = queue.requests[index].id
      aliases[queue.requests[index].id] = alias
      queue.requests[index].id = alias
    }
    guard !aliases.isEmpty else { return }
    for index in queue.requests.indices where queue.requests[index].state == .blocked { follow(&queue.requests[index]) }
    queue.edges = Dictionary(uniqueKeysWithValues: queue.edges.map { (alias(of: $0), $1.map(follow)) })
  }

  private func follow(_ record: inout RequestRecord) {
    record.blockedBy = record.blockedBy.map(alias)
    for place in record.request.after.indices {
      guard case .request(let id) = record.request.after[place].predecessor else { continue }
      record.request.after[place].predecessor = .request(alias(of: id))
    }
  }

  private func follow(_ edge: DependencyRecord) -> DependencyRecord {
    var edge = edge
    edge.predecessor = alias(of: edge.predecessor)
    return edge
  }

  /// The id that a request has in the forecast.
  func alias(of id: RequestID) -> RequestID { aliases[id] ?? id }

  /// The id by which others know the request.
  func name(of id: RequestID) -> RequestID { names[id] ?? id }
}

extension Forecast {
  /// The same with the ids by which others know the requests.
  func named(by aliases: ForecastAliases) -> Forecast {
    var forecast = self
    for index in entries.indices { forecast.entries[index].request = aliases.name(of: entries[index].request) }
    for index in counts.indices { forecast.counts[index].request = aliases.name(of: counts[index].request) }
    for index in held.indices { forecast.held[index].request = aliases.name(of: held[index].request) }
    return forecast
  }
}
