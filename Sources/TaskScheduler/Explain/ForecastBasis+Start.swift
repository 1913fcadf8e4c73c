public import TaskModel

extension ForecastBasis {
  /// Completes the explanation of a waiting request: when it starts if nothing changes, its place in line, and when shared gates open for
  /// it. Like ``forecast(of:to:limit:)``, the scheduler itself works through the queue, up to this request.
  ///
  /// The start is unknown if the request waits for an event or behind very many runs. If it waits only for times, the latest of them is the
  /// answer. Blocks for up to about a quarter of a second: do not call on a thread that others wait for.
  ///
  /// - Parameters:
  ///   - explanation: The scheduler's answer at the moment of this basis.
  ///   - record: The request it is about.
  ///   - queue: Returns the live requests that are due by a time.
  public func complete(
    _ explanation: RequestExplanation, of record: RequestRecord, queue: (_ dueBy: WallTime) throws -> ForecastQueue
  ) rethrows -> RequestExplanation {
    var explanation = explanation
    let waits: Set<RequestState> = [.blocked, .pending, .claimed]
    guard waits.contains(record.state), !explanation.gates.isEmpty else { return explanation }
    explanation.earliestStart = nil
    guard explanation.gates.allSatisfy({ $0.until != nil || $0.waitsForRuns }) else { return explanation }
    let floor = max(from, explanation.gates.compactMap(\.until).max() ?? from)
    var looked: (run: ForecastRun, queue: ForecastQueue)?
    for reach in Self.reaches {
      let to = floor + reach
      let waiting = try queue(to)
      guard let run = try? look(ahead: to, waiting, for: record.id, after: looked), (try? run.go()) != nil else { break }
      looked = (run, waiting)
      if let start = run.start {
        let line = waiting.requests.count {
          start.before.contains($0.id) && explanation.isInLine($0, with: record, at: from, sharesRate: limits.holdsHost(at: from))
        }
        fill(&explanation, start.at, place: line + 1, record, run.assumptionOfLateRuns(by: start.at))
        break
      }
      // Reading the queue for each reach also costs time.
      run.spend(waiting.requests.count * Self.costOfRequest)
      guard !run.isTruncated, run.steps > 0 else {
        giveUp(&explanation, run.isTruncated && run.now <= floor ? floor : nil)
        break
      }
    }
    return explanation
  }

  /// A forecast up to `to`; continues the last forecast if nothing more falls due in the added time.
  private func look(
    ahead to: WallTime, _ waiting: ForecastQueue, for target: RequestID, after last: (run: ForecastRun, queue: ForecastQueue)?
  ) throws -> ForecastRun {
    if let last, last.queue.requests.map(\.id) == waiting.requests.map(\.id) {
      last.run.extend(to: to)
      return last.run
    }
    return try ForecastRun(self, waiting, to: to, target: target, steps: last?.run.steps ?? Self.steps)
  }

  /// How far to look ahead, nearest first, because most requests start soon.
  private static let reaches: [Duration] = [.seconds(3600), .seconds(86_400), .seconds(32 * 86_400), .seconds(400 * 86_400)]

  /// The steps for all reaches together.
  private static let steps = 2_500_000
  /// The steps for reading one request and adding it to the forecast's store.
  private static let costOfRequest = 100

  /// Ends without a start: too much comes before the request to work through in the available time.
  ///
  /// - Parameter floor: When the request starts if only times hold it; nil if it is known to start later.
  private func giveUp(_ explanation: inout RequestExplanation, _ floor: WallTime?) {
    guard let floor, explanation.gates.allSatisfy({ $0.until != nil && $0.isTime }) else {
      explanation.assumptions.append("too much comes before it to say when it starts")
      return
    }
    explanation.earliestStart = floor
    explanation.assumptions.append("its plugin and the host have a free slot then: too much comes before it to work that out")
  }

  private func fill(_ explanation: inout RequestExplanation, _ start: WallTime, place: Int, _ record: RequestRecord, _ late: String?) {
    explanation.earliestStart = start
    let isInLine = explanation.gates.contains(where: \.holdsALine)
    if isInLine, record.due <= from { explanation.place = place }
    for index in explanation.gates.indices where explanation.gates[index].holdsALine { explanation.gates[index].until = start }
    if isInLine || record.state == .blocked {
      explanation.assumptions.append("runs take their usual time and succeed")
      if let late { explanation.assumptions.append(late) }
    }
    let rests = explanation.gates.contains { $0.kind == GateKind.idleStage.rawValue }
    if rests || !record.gates.conditions.isEmpty { explanation.assumptions.append("conditions stay as they are") }
  }
}

extension RequestExplanation {
  /// Whether another request is due and waits for the same gates as `record`.
  ///
  /// - Parameter sharesRate: Whether the host's own rate holds requests.
  fileprivate func isInLine(_ other: RequestRecord, with record: RequestRecord, at now: WallTime, sharesRate: Bool) -> Bool {
    guard other.due <= now else { return false }
    let kinds = Set(gates.filter(\.holdsALine).map(\.kind))
    // All requests share the host's slots, its rate and resources.
    if !kinds.isDisjoint(with: [GateKind.host.rawValue, GateKind.resource.rawValue]) { return true }
    guard other.request.identifier == record.request.identifier else { return kinds.contains(GateKind.rate.rawValue) && sharesRate }
    return kinds != [GateKind.key.rawValue] || other.gates.concurrencyKey == record.gates.concurrencyKey
  }
}

extension Gate {
  /// Whether the gate limits a number of runs, so that each request waits for those before it.
  fileprivate var holdsALine: Bool {
    switch GateKind(rawValue: kind) {
    case .plugin, .host, .key, .resource, .rate, .quota: true
    default: false
    }
  }

  /// Whether the gate is the request's own time, for which no others wait in line.
  fileprivate var isTime: Bool { kind == "time" || kind == "backoff" }

  /// Whether the gate opens as runs begin and end.
  fileprivate var waitsForRuns: Bool { holdsALine || kind == "predecessor" }
}
