import FleetModel
import Testing

/// The rules of leases, in every order in which two hosts, their messages and the database may go on.
@Suite("Lease model") struct LeaseModelTests {
  private func explore(_ rules: LeaseRules) -> LeaseExplorer {
    let explorer = LeaseExplorer(rules)
    print("\(explorer.states) states, \(explorer.steps) steps: \(explorer.flaw ?? "no flaw")")
    return explorer
  }

  @Test("two hosts never run one request, none is lost, and none that has ended runs, whatever the database's clock does")
  func today() {
    let explorer = explore(LeaseRules())
    #expect(explorer.flaw == nil, "\(explorer.path)")
    #expect(explorer.states > 300_000)
  }

  @Test("hosts that believed the database's clock might run one request both, after it was set forward")
  func clock() {
    var rules = LeaseRules.believing
    rules.setsClock = true
    let explorer = explore(rules)
    #expect(explorer.flaw == "both hosts run the request")
    #expect(explorer.path.contains("the database's clock is set forward by a lease"))
  }

  private static let alone: [(rules: LeaseRules, flaw: String)] = [
    (LeaseRules().without(\.killsBeforeTheEnd), "both hosts run the request"),
    (LeaseRules().without(\.countsFromSending), "both hosts run the request"),
    (LeaseRules().without(\.killsFrozen), "both hosts run the request"),
    (LeaseRules().without(\.beginsWithinLease), "both hosts run the request"),
    (LeaseRules().without(\.claimHoldsLease), "the request is lost: a fenced host owns it"),
    (LeaseRules().without(\.requeuesFenced), "the request is lost: a fenced host owns it"),
  ]

  @Test("each of these rules is needed", arguments: alone.indices)
  func needed(_ index: Int) {
    #expect(explore(Self.alone[index].rules).flaw == Self.alone[index].flaw)
  }

  @Test("an end asks for its owner's lease and for the owner itself: either alone is enough, and without both an ended request runs")
  func ends() {
    let open = LeaseRules().without(\.finishHoldsLease)
    #expect(explore(open).flaw == nil)
    #expect(explore(open.without(\.finishAsksOwner)).flaw == "a request that has ended runs")
    #expect(explore(open.without(\.ownsByIncarnation)).flaw == "a request that has ended runs")
  }
}
