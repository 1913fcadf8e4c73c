import TaskModel

extension MemoryTransaction {
  func insert(_ added: [DependencyRecord], of id: RequestID) throws {
    var list = edges[id.sequence] ?? []
    for edge in added {
      list.removeAll { $0.predecessor == edge.predecessor }
      list.append(edge)
    }
    setEdges(list, of: id.sequence)
  }

  func awaitedPredecessors() throws -> Set<RequestID> { Set(openEdges.keys.map { RequestID(sequence: $0, origin: origin) }) }

  func edges(of id: RequestID) throws -> [DependencyRecord] { edges[id.sequence] ?? [] }

  func dependants(of predecessor: RequestID) throws -> [RequestID] {
    (openEdges[predecessor.sequence] ?? []).sorted().map { RequestID(sequence: $0, origin: origin) }
  }

  /// Examines all edges.
  func failedDependants(of predecessor: RequestID) throws -> [RequestID] {
    edges.filter { $0.value.contains { $0.predecessor == predecessor && $0.ended == .failed } }.keys.sorted().map {
      RequestID(sequence: $0, origin: origin)
    }
  }

  /// Examines the runs from the newest back to the request.
  func output(of id: RequestID) throws -> [UInt8]? {
    var output: [UInt8]?
    runOrder.visitReversed { key in
      guard key.id > id.sequence, output == nil else { return false }
      if let run = runs[key.id], run.request == id { output = run.report.output }
      return true
    }
    return output
  }

  func settleEdges(from predecessor: RequestID, ended: RequestState, output: [UInt8]) throws -> [RequestID] {
    let dependants = try dependants(of: predecessor)
    for dependant in dependants {
      guard var list = edges[dependant.sequence] else { continue }
      for position in list.indices where list[position].predecessor == predecessor && list[position].ended == nil {
        list[position].ended = ended
        list[position].output = output
      }
      setEdges(list, of: dependant.sequence)
    }
    return dependants
  }

  /// Writes the edges of a request; nil removes them.
  func setEdges(_ list: [DependencyRecord]?, of id: Int64) {
    let before = edges[id]
    putEdges(list, of: id)
    undo { [unowned self] in putEdges(before, of: id) }
  }

  private func putEdges(_ list: [DependencyRecord]?, of id: Int64) {
    for edge in edges[id] ?? [] where edge.ended == nil {
      openEdges[edge.predecessor.sequence]?.remove(id)
      if openEdges[edge.predecessor.sequence]?.isEmpty == true { openEdges[edge.predecessor.sequence] = nil }
    }
    edges[id] = list
    for edge in list ?? [] where edge.ended == nil { openEdges[edge.predecessor.sequence, default: []].insert(id) }
  }

  // MARK: Keys

  func submission(withKey key: String, by plugin: TaskIdentifier?) throws -> KnownSubmission? { submissions[OwnedKey(key, of: plugin)] }

  func remember(_ submission: KnownSubmission, key: String, by plugin: TaskIdentifier?) throws {
    let owned = OwnedKey(key, of: plugin)
    set(submission, over: submissions[owned]) { $0.submissions[owned] = $1 }
  }

  func submissionCount(by plugin: TaskIdentifier) throws -> Int { submissions.keys.count { $0.identifier == plugin } }

  func windowHolder(of key: String, identifier: TaskIdentifier, now: WallTime) throws -> RequestID? {
    guard let window = windows[OwnedKey(key, of: identifier)], window.until > now else { return nil }
    return window.request
  }

  func hold(_ key: String, identifier: TaskIdentifier, for id: RequestID, until time: WallTime) throws {
    let owned = OwnedKey(key, of: identifier)
    set((id, time), over: windows[owned]) { $0.windows[owned] = $1 }
  }

  func windowCount(of identifier: TaskIdentifier, now: WallTime) throws -> Int {
    for (key, window) in windows where key.identifier == identifier && window.until <= now {
      set(nil, over: windows[key]) { $0.windows[key] = $1 }
    }
    return windows.keys.count { $0.identifier == identifier }
  }

  // MARK: Events

  func waiting(forEvent name: String) throws -> [RequestRecord] {
    (events[ExactText(name)] ?? []).sorted().compactMap { rows[$0]?.record }
  }

  func awaitedEvents() throws -> [String] { events.keys.sorted().map(\.text) }
}
