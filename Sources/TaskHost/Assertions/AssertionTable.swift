import DequeModule
import TaskModel

/// The assertions that are held, and those that have ended recently. A value; ``AssertionKeeper`` has the clock, the thread and the lock.
struct AssertionTable {
  private struct Entry {
    var assertion: Assertion
    let deadline: MonotonicTime

    func snapshot(at now: MonotonicTime) -> Assertion {
      var assertion = assertion
      assertion.remaining = max(.zero, deadline - now)
      return assertion
    }
  }

  /// How many ended assertions are remembered, to tell a late holder what became of its own.
  static let remembered = 1000

  private let origin: UInt64
  /// How many of the held assertions may have a process.
  private let watchedLimit: Int
  private var generator = RecordIDGenerator(after: 0)
  private var held: [AssertionID: Entry] = [:]
  private var ended: [AssertionID: Assertion] = [:]
  /// The ids of `ended`, oldest first.
  private var order: Deque<AssertionID> = []
  /// Whether new assertions are refused, because the host drains.
  private(set) var isClosed = false
  /// How often an assertion was refused because too many are held.
  private(set) var refused: UInt64 = 0

  /// - Parameters:
  ///   - origin: Drawn at random for each host process.
  ///   - descriptors: How many descriptors the host may have open; nil: any number. An eighth of them may watch processes.
  init(origin: UInt64, descriptors: UInt64? = nil) {
    self.origin = origin
    watchedLimit = descriptors.map { min(Limits.watchedAssertions, Int(clamping: $0 / 8)) } ?? Limits.watchedAssertions
  }

  var isEmpty: Bool { held.isEmpty }
  /// When the next assertion expires; nil if none is held.
  var nextDeadline: MonotonicTime? { held.values.map(\.deadline).min() }

  /// Refuses new assertions from now on.
  mutating func close() { isClosed = true }

  /// The assertions that are held, oldest first.
  func list(at now: MonotonicTime) -> [Assertion] { held.values.map { $0.snapshot(at: now) }.sorted { $0.id < $1.id } }

  /// Refuses a request if the host drains, or if too many assertions like it are held.
  mutating func checkRoom(for request: AssertionRequest) throws(RequestRefusal) {
    // Whoever wants to begin something now must not make the host wait for it.
    guard !isClosed else { throw RequestRefusal(.unavailable, "the host is draining: it waits for no new assertion") }
    guard let sentence = shortage(for: request) else { return }
    refused += 1
    throw RequestRefusal(.limit, sentence)
  }

  /// Why no assertion like this may be taken now; nil if there is room.
  private func shortage(for request: AssertionRequest) -> String? {
    let remedy = "give one back, or let one stand for a whole queue"
    if held.count >= Limits.assertions { return "\(held.count) assertions are held already, which is the most: \(remedy)" }
    if let holder = request.run?.identifier {
      let count = held.values.count { $0.assertion.request.run?.identifier == holder }
      return count < Limits.handlerAssertions
        ? nil : "runs of \(holder) hold \(count) assertions, which is the most: end one, or let one stand for a whole queue"
    }
    let ofUser = held.values.map(\.assertion.request).filter { $0.run == nil && $0.user == request.user }
    let user = request.user.map { "user \($0)" } ?? "clients of unknown users"
    if ofUser.count >= Limits.userAssertions {
      return "\(user) \(request.user == nil ? "hold" : "holds") \(ofUser.count) assertions, which is the most for one user: \(remedy)"
    }
    guard request.process != nil else { return nil }
    let watched = held.values.count { $0.assertion.request.process != nil }
    let wayOut = "leave process_id out, give one back, or let one stand for a whole queue"
    if watched >= watchedLimit {
      return "\(watched) assertions with a process_id are held already, which is the most that this host watches: \(wayOut)"
    }
    let watchedOfUser = ofUser.count { $0.process != nil }
    guard watchedOfUser >= Limits.userWatchedAssertions else { return nil }
    let holds = request.user == nil ? "hold" : "holds"
    return "\(user) \(holds) \(watchedOfUser) assertions with a process_id, which is the most for one user: \(wayOut)"
  }

  /// Takes an assertion; the request has been checked.
  mutating func begin(_ request: AssertionRequest, at now: MonotonicTime, _ time: WallTime) throws(RequestRefusal) -> Assertion {
    try checkRoom(for: request)
    let id = AssertionID(sequence: generator.next(at: time), origin: origin)
    let assertion = Assertion(id: id, request: request, since: time)
    held[id] = Entry(assertion: assertion, deadline: now + request.length)
    return assertion
  }

  /// Gives an assertion back. Throws if it is not held any more, and says what became of it.
  mutating func giveBack(_ id: AssertionID) throws(RequestRefusal) -> Assertion {
    if let assertion = end(id, as: .givenBack) { return assertion }
    guard let before = ended[id] else {
      throw RequestRefusal(.notFound, "there is no assertion \(id): it has ended long ago, or with an earlier host", field: "id")
    }
    let length = DurationText.format(before.request.length)
    let fate =
      switch before.state {
      case .expired: "expired after \(length)"
      case .holderEnded: "ended with its process \(before.request.process ?? 0)"
      case .runEnded: "ended with its run"
      case .unreachable: "has ended: the control socket had failed"
      case .overruled: "was overruled: the host was forced to end"
      case .givenBack, .held: "was given back already"
      }
    throw RequestRefusal(.notFound, "the assertion \(id) \(fate)", field: "id")
  }

  /// Ends an assertion; nil if it is not held.
  mutating func end(_ id: AssertionID, as state: Assertion.State) -> Assertion? {
    guard var assertion = held.removeValue(forKey: id)?.assertion else { return nil }
    (assertion.state, assertion.remaining) = (state, .zero)
    ended[id] = assertion
    order.append(id)
    if order.count > Self.remembered, let oldest = order.popFirst() { ended[oldest] = nil }
    return assertion
  }

  /// Ends the assertions that a run took.
  mutating func end(of run: RunID) -> [Assertion] {
    held.filter { $0.value.assertion.request.run?.run == run }.keys.sorted().compactMap { end($0, as: .runEnded) }
  }

  /// Whether a run holds the assertion.
  func isHeld(_ id: AssertionID, by run: RunID) -> Bool { held[id]?.assertion.request.run?.run == run }

  /// The runs that hold assertions.
  var holders: Set<RunID> { Set(held.values.compactMap { $0.assertion.request.run?.run }) }

  /// Undoes ``begin(_:at:_:)``: nobody has heard of the assertion.
  mutating func forget(_ id: AssertionID) { held[id] = nil }

  /// Ends the assertions whose time is over.
  mutating func expire(at now: MonotonicTime) -> [Assertion] {
    let due = held.filter { $0.value.deadline <= now }.keys.sorted()
    return due.compactMap { end($0, as: .expired) }
  }

  /// Ends the assertions of clients that no longer reach the host, except those that end with a process.
  mutating func endUnreachable() -> [Assertion] {
    held.filter { $0.value.assertion.request.run == nil && $0.value.assertion.request.process == nil }.keys.sorted()
      .compactMap { end($0, as: .unreachable) }
  }

  /// Ends all assertions.
  mutating func overrule() -> [Assertion] { held.keys.sorted().compactMap { end($0, as: .overruled) } }
}
