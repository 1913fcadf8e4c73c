import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

/// Random graphs whose requests end at random, with failing commits and hosts that die in between. What must come of each request follows
/// from its own ending and the ends of its predecessors alone.
@Suite("Random graphs") struct GraphWalkTests {
  private struct Node {
    let ending: RequestState
    let edges: [(node: Int, onFailure: Dependency.FailurePolicy)]
    var id: RequestID?
  }

  @Test("every request starts after its predecessors, with their outputs, and ends as they say", arguments: 0..<60)
  func walk(_ seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let world = try World(SchedulingPolicy(maxConcurrentRuns: 4), handlers: [.sample(runs: 4)])
    var nodes: [Node] = []
    var left = 40
    // One loss more than that in a row would fail a request.
    var restarts = Limits.lossesInARow - 1
    while left > 0 || !world.orders.isEmpty {
      if left > 0, Int.random(in: 0..<3, using: &random) == 0 || world.orders.isEmpty {
        let batch = min(left, Int.random(in: 1...5, using: &random))
        left -= batch
        try submit((0..<batch).map { node($0 + nodes.count, &random) }, to: &nodes, in: world)
      } else if let index = nodes.indices.filter({ nodes[$0].id.map(world.isRunning) ?? false }).randomElement(using: &random) {
        if restarts > 0, Int.random(in: 0..<8, using: &random) == 0 {
          restarts -= 1
          try world.restart(handlers: [.sample(runs: 4)])
        } else {
          try end(nodes, index, in: world, &random)
        }
      }
      for index in nodes.indices { try checkStart(nodes, index, in: world) }
    }
    for (index, node) in nodes.enumerated() {
      guard let id = node.id else { continue }
      let broken = try node.edges.filter { $0.onFailure == .fail }.map { try self.state(nodes, $0.node, in: world) }.filter {
        $0 != .succeeded
      }
      let state = try world.record(id).state
      #expect(broken.isEmpty ? state == node.ending : broken.contains(state), "seed \(seed), node \(index): \(state)")
    }
    #expect(try world.store.commit { try $0.awaitedPredecessors() }.isEmpty, "seed \(seed)")
    #expect(try world.store.commit { try $0.liveCount(of: .sample()) } == 0)
  }

  private func node(_ index: Int, _ random: inout SeededGenerator) -> Node {
    let predecessors = (0..<index).shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
    return Node(
      ending: [.succeeded, .succeeded, .succeeded, .succeeded, .failed, .cancelled].randomElement(using: &random) ?? .succeeded,
      edges: predecessors.map { ($0, Bool.random(using: &random) ? .fail : .ignore) })
  }

  /// Submits some at once; if one of them waits for what has failed already, none is taken.
  private func submit(_ batch: [Node], to nodes: inout [Node], in world: World) throws {
    let first = nodes.count
    let known = nodes
    let requests = batch.map { node in
      var request = TaskRequest.sample()
      request.after = node.edges.compactMap { edge in
        if edge.node >= first { return Dependency(.position(edge.node - first), onFailure: edge.onFailure) }
        return known[edge.node].id.map { Dependency(.request($0), onFailure: edge.onFailure) }
      }
      return request
    }
    let ids: [RequestID?]
    do { ids = try world.submit(requests).map(\.id) } catch is RequestRefusal {
      let before = try world.store.counts().values.reduce(0, +)
      #expect(before == nodes.count { $0.id != nil })
      ids = batch.map { _ in nil }
    }
    for (node, id) in zip(batch, ids) {
      nodes.append(
        Node(ending: node.ending, edges: node.edges.filter { nodes.indices.contains($0.node) ? nodes[$0.node].id != nil : true }, id: id))
    }
  }

  private func end(_ nodes: [Node], _ index: Int, in world: World, _ random: inout SeededGenerator) throws {
    let id = try #require(nodes[index].id)
    var report = RunReport()
    report.output = index.isMultiple(of: 3) ? [] : Array(#"{"n\#(index)":1}"#.utf8)
    let ending = RunEnding.returned(nodes[index].ending == .failed ? .failure : .success, stop: nil)
    if nodes[index].ending == .cancelled { try world.cancel(id) }
    guard Int.random(in: 0..<4, using: &random) == 0 else { return try world.end(id, ending, report) }
    world.store.fail(with: .full("random"))
    #expect(throws: StoreError.self) { try world.end(id, ending, report) }
    world.store.fail(with: nil)
    // The end is kept, and recorded when the store works again.
    try world.turn()
  }

  private func state(_ nodes: [Node], _ index: Int, in world: World) throws -> RequestState? {
    try nodes[index].id.map { try world.record($0).state }
  }

  private func checkStart(_ nodes: [Node], _ index: Int, in world: World) throws {
    guard let id = nodes[index].id, let order = world.orders[id] else { return }
    var given: [Int] = []
    for edge in nodes[index].edges {
      let state = try state(nodes, edge.node, in: world)
      #expect(state?.isFinal == true && (edge.onFailure == .ignore || state == .succeeded), "node \(index)")
      if state == .succeeded, !edge.node.isMultiple(of: 3) { given.append(edge.node) }
    }
    let payload = given.isEmpty ? "" : "{" + given.map { #""n\#($0)":1"# }.joined(separator: ",") + "}"
    #expect(String(decoding: order.payload, as: UTF8.self) == payload, "node \(index)")
  }
}
