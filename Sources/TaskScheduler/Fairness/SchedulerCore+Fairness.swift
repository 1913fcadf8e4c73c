import TaskModel

// Tenants of an identifier wait in lanes of their own. Of the lanes that are due, a turn asks only as many as it can serve.

extension SchedulerCore {
  /// Writes the tenant of a request into its gates, if the operator has its identifier shared fairly.
  func settleTenant(of request: inout TaskRequest) {
    request.gates.tenant = policy.limits(of: request.identifier).fairBy?.tenant(in: request.payload)
  }

  /// The lanes that are asked for requests in this turn: of an identifier that is shared fairly, those of the tenants whose turn it is.
  func lanesToAsk(_ open: [LaneState]) -> [LaneState] {
    guard hasFairness else { return open }
    var waiting: [TaskIdentifier: [String: [LaneState]]] = [:]
    for lane in open {
      guard let handler = lane.handler, handler.shares != nil else { continue }
      waiting[handler.contract.identifier, default: [:]][lane.tenant, default: []].append(lane)
    }
    guard !waiting.isEmpty else { return open }
    var chosen: [TaskIdentifier: Set<String>] = [:]
    for (identifier, tenants) in waiting {
      guard let handler = handlers[identifier] else { continue }
      let room = min(handler.freeSlots, freeHostSlots)
      // How many each has is not known yet: each has one at least.
      chosen[identifier] = Set(handler.shares?.order(tenants.mapValues(\.count), most: max(1, room)) ?? [])
    }
    return open.filter { lane in
      guard let handler = lane.handler, handler.shares != nil else { return true }
      return chosen[handler.contract.identifier]?.contains(lane.tenant) ?? true
    }
  }

  /// Puts the offers of each identifier that is shared fairly into the order of its tenants' turns, at the places that they have among all.
  func orderFairly<Offer>(_ offers: inout [Offer], _ lane: (Offer) -> LaneState) {
    guard hasFairness, offers.count > 1 else { return }
    var places: [TaskIdentifier: [Int]] = [:]
    for (index, offer) in offers.enumerated() {
      guard let handler = lane(offer).handler, handler.shares != nil else { continue }
      places[handler.contract.identifier, default: []].append(index)
    }
    for (identifier, places) in places where places.count > 1 {
      guard let handler = handlers[identifier] else { continue }
      // By tenant, the best last.
      var queues = Dictionary(grouping: places.reversed().map { offers[$0] }) { lane($0).tenant }
      let order = handler.shares?.order(queues.mapValues(\.count), most: places.count) ?? []
      for (place, tenant) in zip(places, order) {
        if let offer = queues[tenant]?.popLast() { offers[place] = offer }
      }
    }
  }
}

extension LaneState {
  /// The tenant whose requests wait in the lane; requests without one are a tenant together.
  var tenant: String { handler?.tenant(of: gates) ?? gates.tenant ?? "" }
}

extension HandlerState {
  /// The tenant of requests with these gates.
  func tenant(of gates: RunConstraints) -> String { gates.tenant ?? (fairBy == .concurrencyKey ? gates.concurrencyKey : nil) ?? "" }
}
