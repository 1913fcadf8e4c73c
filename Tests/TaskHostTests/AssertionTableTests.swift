import TaskModel
import Testing

@testable import TaskHost

@Suite("The table of assertions") struct AssertionTableTests {
  private var table = AssertionTable(origin: 7)
  private let start = MonotonicTime(nanoseconds: 0)
  private let time = WallTime(unixMilliseconds: 1_700_000_000_000)

  private mutating func begin(
    _ name: String = "a", for length: Duration = .seconds(30), process: Int32? = nil, user: UInt32? = nil
  ) throws -> Assertion {
    try table.begin(AssertionRequest(name: name, length: length, process: process, user: user), at: start, time)
  }

  @Test("what is held is listed with what is left, oldest first")
  mutating func list() throws {
    let first = try begin("first")
    let second = try begin("second", for: .seconds(60))
    let list = table.list(at: start + .seconds(10))
    #expect(list.map(\.id) == [first.id, second.id])
    #expect(list.map(\.remaining) == [.seconds(20), .seconds(50)])
    #expect(list.allSatisfy { $0.state == .held && $0.since == time })
    #expect(list.map(\.expires) == [time + .seconds(30), time + .seconds(60)])
    #expect(table.nextDeadline == start + .seconds(30))
  }

  @Test("what is given back is not held any more, and cannot be given back again")
  mutating func giveBack() throws {
    let id = try begin().id
    #expect(try table.giveBack(id).state == .givenBack)
    #expect(table.isEmpty && table.nextDeadline == nil)
    let refusal = #expect(throws: RequestRefusal.self) { _ = try table.giveBack(id) }
    #expect(refusal?.code == .notFound && refusal?.message == "the assertion \(id) was given back already")
  }

  @Test("an assertion expires at its deadline, not before, and its holder learns that")
  mutating func expires() throws {
    let id = try begin().id
    let other = try begin("b", for: .seconds(31)).id
    #expect(table.expire(at: start + .seconds(30) + .nanoseconds(-1)).isEmpty)
    let expired = table.expire(at: start + .seconds(30))
    #expect(expired.map(\.id) == [id] && expired[0].state == .expired && expired[0].remaining == .zero)
    #expect(table.list(at: start).map(\.id) == [other])
    let refusal = #expect(throws: RequestRefusal.self) { _ = try table.giveBack(id) }
    #expect(refusal?.message == "the assertion \(id) expired after 30s")
  }

  @Test("a table that is closed takes nothing more, and keeps what is held")
  mutating func closed() throws {
    let id = try begin().id
    table.close()
    let refusal = #expect(throws: RequestRefusal.self) { _ = try begin("late") }
    #expect(refusal?.code == .unavailable && refusal?.message.contains("draining") == true)
    #expect(table.list(at: start).map(\.id) == [id])
    #expect(table.overrule().map(\.state) == [.overruled])
    #expect(table.isEmpty)
  }

  @Test("1,000 are held at once; one that is given back makes room; the oldest ended ones are forgotten")
  mutating func limit() throws {
    var ids: [AssertionID] = []
    for number in 0..<Limits.assertions { ids.append(try begin(user: UInt32(number % 3)).id) }
    #expect(Set(ids).count == 1000)
    let refusal = #expect(throws: RequestRefusal.self) { _ = try begin(user: 4) }
    #expect(refusal?.code == .limit && refusal?.message.hasPrefix("1000 assertions are held already, which is the most") == true)
    #expect(table.refused == 1)
    _ = try table.giveBack(ids[0])
    let last = try begin().id
    for id in ids.dropFirst() + [last] { _ = try table.giveBack(id) }
    let forgotten = #expect(throws: RequestRefusal.self) { _ = try table.giveBack(ids[0]) }
    #expect(forgotten?.message.contains("there is no assertion") == true)
    let known = #expect(throws: RequestRefusal.self) { _ = try table.giveBack(ids[1]) }
    #expect(known?.message.contains("given back already") == true)
  }

  @Test("the clients of one user hold 500, so that others find room; those of unknown users count as one")
  mutating func userLimit() throws {
    for _ in 0..<Limits.userAssertions { _ = try begin(user: 1000) }
    let refusal = #expect(throws: RequestRefusal.self) { _ = try begin(user: 1000) }
    #expect(refusal?.code == .limit && refusal?.message.hasPrefix("user 1000 holds 500 assertions, which is the most for one user") == true)
    for _ in 0..<Limits.userAssertions - 1 { _ = try begin() }
    _ = try begin(user: 0)
    #expect(table.list(at: start).count == 1000)
  }

  @Test("those with a process need a descriptor each: one user holds 64, all hold 128, without a process there is room")
  mutating func watchedLimit() throws {
    for _ in 0..<Limits.userWatchedAssertions { _ = try begin(process: 1, user: 1000) }
    let refusal = #expect(throws: RequestRefusal.self) { _ = try begin(process: 1, user: 1000) }
    #expect(
      refusal?.message
        == "user 1000 holds 64 assertions with a process_id, which is the most for one user: leave process_id out, give one back, or let one "
        + "stand for a whole queue")
    let last = try (0..<64).map { _ in try begin(process: 1, user: 0) }.last
    let full = #expect(throws: RequestRefusal.self) { _ = try begin(process: 1, user: 7) }
    #expect(full?.message.hasPrefix("128 assertions with a process_id are held already, which is the most that this host watches") == true)
    _ = try begin(user: 1000)
    _ = try table.giveBack(#require(last).id)
    _ = try begin(process: 1, user: 7)
    #expect(table.refused == 2)
  }

  @Test("a host with few descriptors spends an eighth of them", arguments: [(UInt64(96), 12), (1024, 128), (1 << 40, 128)])
  func descriptors(_ descriptors: UInt64, most: Int) throws {
    var table = AssertionTable(origin: 7, descriptors: descriptors)
    for number in 0..<most { _ = try table.begin(AssertionRequest(name: "a", process: 1, user: UInt32(number % 5)), at: start, time) }
    let refusal = #expect(throws: RequestRefusal.self) {
      _ = try table.begin(AssertionRequest(name: "a", process: 1, user: 9), at: start, time)
    }
    #expect(refusal?.message.hasPrefix("\(most) assertions with a process_id are held already") == true)
  }

  @Test("without a control socket, those end that only a client can give back")
  mutating func unreachable() throws {
    let id = try begin("client").id
    let watched = try begin("process", process: 1).id
    #expect(table.endUnreachable().map(\.id) == [id])
    #expect(table.list(at: start).map(\.id) == [watched])
    let refusal = #expect(throws: RequestRefusal.self) { _ = try table.giveBack(id) }
    #expect(refusal?.message == "the assertion \(id) has ended: the control socket had failed")
  }

  @Test(
    "what no host takes is refused by its member",
    arguments: [
      (AssertionRequest(name: ""), "name"), (AssertionRequest(name: String(repeating: "n", count: 257)), "name"),
      (AssertionRequest(name: "a\0b"), "name"), (AssertionRequest(name: "a", reason: ""), "reason"),
      (AssertionRequest(name: "a", reason: String(repeating: "r", count: 1025)), "reason"),
      (AssertionRequest(name: "a", length: .zero), "for_ms"), (AssertionRequest(name: "a", length: .seconds(-1)), "for_ms"),
      (AssertionRequest(name: "a", length: .milliseconds(600_001)), "for_ms"), (AssertionRequest(name: "a", process: 0), "process_id"),
      (AssertionRequest(name: "a", process: -1), "process_id"),
    ])
  func refused(_ request: AssertionRequest, field: String) {
    let refusal = #expect(throws: RequestRefusal.self) { try request.check() }
    #expect(refusal?.code == .invalid && refusal?.field == field)
    #expect(refusal?.message.hasPrefix(field + ": ") == true)
  }

  private func run(_ number: Int64, of identifier: String = "a.b") throws -> RunReference {
    RunReference(
      run: RunID(sequence: number, origin: 1), request: RequestID(sequence: number, origin: 1), identifier: try TaskIdentifier(identifier))
  }

  @Test("an assertion of a run ends with that run, and only with that")
  mutating func runs() throws {
    let other = try begin("other").id
    var request = AssertionRequest(name: "of a run")
    for number in [1, 1, 2] as [Int64] {
      request.run = try run(number)
      _ = try table.begin(request, at: start, time)
    }
    #expect(table.holders == [try run(1).run, try run(2).run])
    let ended = table.end(of: try run(1).run)
    #expect(ended.count == 2 && ended.allSatisfy { $0.state == .runEnded })
    #expect(table.holders == [try run(2).run])
    #expect(table.end(of: try run(1).run).isEmpty)
    #expect(!table.isHeld(other, by: try run(2).run))
    let refusal = #expect(throws: RequestRefusal.self) { _ = try table.giveBack(ended[0].id) }
    #expect(refusal?.message == "the assertion \(ended[0].id) ended with its run")
  }

  @Test("the runs of a handler hold 32 at once; another handler's have their own")
  mutating func handlerLimit() throws {
    var request = AssertionRequest(name: "of a run")
    for number in 0..<Limits.handlerAssertions {
      request.run = try run(Int64(number))
      _ = try table.begin(request, at: start, time)
    }
    let refusal = #expect(throws: RequestRefusal.self) { _ = try table.begin(request, at: start, time) }
    #expect(refusal?.code == .limit && refusal?.message.contains("runs of a.b hold 32") == true)
    request.run = try run(1, of: "c.d")
    _ = try table.begin(request, at: start, time)
    _ = table.end(of: try run(1).run)
    request.run = try run(99)
    _ = try table.begin(request, at: start, time)
  }

  @Test("the limits themselves are allowed")
  func allowed() throws {
    let longest = String(repeating: "n", count: Limits.assertionNameBytes)
    let reason = String(repeating: "r", count: Limits.assertionReasonBytes)
    for length in [Duration.milliseconds(1), .seconds(600)] {
      try AssertionRequest(name: longest, reason: reason, length: length, process: 1).check()
    }
  }
}
