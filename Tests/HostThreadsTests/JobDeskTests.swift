import HostThreads
import TaskModel
import Testing

@Suite("Job desk", .timeLimit(.minutes(5))) struct JobDeskTests {
  /// What the desk has done, in order.
  private let done = Guarded([String]())
  private let gate = Guarded(false)

  private func take(_ desk: JobDesk<String>, _ owner: String, _ name: String, waits: Bool = false) -> Bool {
    desk.take(from: owner) { [done, gate] in
      if waits { _ = gate.wait { $0 ? true : nil } }
      done.withLock { $0.append(name) }
      done.signal()
      return .zero
    } failed: {
      Issue.record($0)
    }
  }

  private func finished(_ count: Int) -> [String] { done.wait { $0.count == count ? $0 : nil } ?? [] }

  private func open() {
    gate.withLock { $0 = true }
    gate.signal()
  }

  @Test("owners take turns, however many jobs one of them has, and each one's jobs are done in their order")
  func turns() {
    let desk = JobDesk<String>("turns", mostWaiting: 20, mostOfOne: 10)
    #expect(take(desk, "greedy", "g0", waits: true))
    for number in 1...4 { #expect(take(desk, "greedy", "g\(number)")) }
    for number in 0...1 { #expect(take(desk, "modest", "m\(number)")) }
    #expect(take(desk, "late", "l0"))
    open()
    let order = finished(8)
    #expect(order.filter { $0.hasPrefix("g") } == ["g0", "g1", "g2", "g3", "g4"] && order.filter { $0.hasPrefix("m") } == ["m0", "m1"])
    // The first job may not have begun when the others came.
    let modest = order.firstIndex(of: "m0") ?? 99
    let late = order.firstIndex(of: "l0") ?? 99
    #expect(modest <= 3 && late <= 4, "\(order)")
    #expect((order.firstIndex(of: "m1") ?? 99) <= 6, "\(order)")
  }

  @Test("no owner uses all places, and the desk serves again after it was idle")
  func places() {
    let desk = JobDesk<String>("places", mostWaiting: 5, mostOfOne: 3)
    let begun = Guarded(false)
    let isTaken = desk.take(from: "first") { [gate] in
      begun.withLock { $0 = true }
      begun.signal()
      _ = gate.wait { $0 ? true : nil }
      return .zero
    } failed: {
      Issue.record($0)
    }
    #expect(isTaken)
    _ = begun.wait { $0 ? true : nil }
    for _ in 0..<3 { #expect(take(desk, "greedy", "g")) }
    #expect(!take(desk, "greedy", "too many"))
    for _ in 0..<2 { #expect(take(desk, "modest", "m")) }
    #expect(!take(desk, "modest", "no place left"))
    open()
    #expect(finished(5) == ["g", "m", "g", "m", "g"])
    #expect(take(desk, "greedy", "again"))
    #expect(finished(6).last == "again")
  }
}
