import TaskModel

/// The runs that a forecast has found. However often others run, each request's first run is kept, and so are the earliest of the rest.
struct ForecastEntries {
  /// The first run of each request, in the order of their starts.
  private(set) var firsts: [Forecast.Entry] = []
  private var later: [Forecast.Entry] = []
  /// The number of runs of each request.
  private var counts: [RequestID: Int] = [:]
  private let limit: Int
  /// When the first run begins that was not kept; nil if all were.
  private var omitted: WallTime?

  /// - Parameter limit: The maximum number of runs that are kept.
  init(limit: Int) { self.limit = limit }

  mutating func append(_ entry: Forecast.Entry) {
    counts[entry.request, default: 0] += 1
    if counts[entry.request] == 1 {
      firsts.append(entry)
    } else if later.count < limit {
      later.append(entry)
    } else {
      omit(entry)
    }
  }

  private mutating func omit(_ entry: Forecast.Entry) { omitted = min(omitted ?? entry.at, entry.at) }

  /// The number of requests of which not even the first run is kept.
  var omittedRequests: Int { max(0, firsts.count - limit) }

  /// At most `limit` runs, earliest first; the number of each request's; and when the first begins that is not among them.
  func result() -> (entries: [Forecast.Entry], counts: [Forecast.Count], omitted: WallTime?) {
    var rest = self
    let kept = firsts.prefix(limit)
    firsts.dropFirst(limit).forEach { rest.omit($0) }
    later.dropFirst(limit - kept.count).forEach { rest.omit($0) }
    var entries: [Forecast.Entry] = []
    var (first, next) = (kept[...], later.prefix(limit - kept.count))
    // Both are in order.
    while let left = first.first ?? next.first {
      if let right = next.first, right.at < left.at || first.isEmpty {
        entries.append(next.removeFirst())
      } else {
        entries.append(first.removeFirst())
      }
    }
    let counts = kept.map { Forecast.Count(request: $0.request, identifier: $0.identifier, runs: self.counts[$0.request] ?? 1) }
    return (entries, counts, rest.omitted)
  }
}
