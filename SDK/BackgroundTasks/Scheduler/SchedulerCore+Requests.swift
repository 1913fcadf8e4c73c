import CTaskHost
import Dispatch
import Foundation
import Synchronization
import TaskHostSDK

extension SchedulerCore {
  /// Submits a request in place of a pending one of its identifier.
  ///
  /// - Throws: ``BGTaskScheduler/Error``.
  func submit(_ request: BGTaskRequest) throws {
    let request = request.duplicate()
    do {
      let (order, target) = try order(request)
      let atOnce = (request as? BGContinuedProcessingTaskRequest)?.strategy == .fail
      try submitting.withLock {
        try withChannel { channel in
          let pending = try channel.pending()
          try checkLimit(order, pending, target)
          if atOnce { try checkFree(order, pending, target) }
          let replaced = pending.filter { $0.identifier == order.identifier }
          try channel.replace(replaced, of: order) { try submit(order, atOnce: atOnce, channel) }
        }
      }
      // A hint leaves nothing to remember; a wildcard, which always has one, can cover any number of identifiers.
      if target.hint == nil { state.withLock { $0.lastTypes[order.identifier] = order.record.type } }
      for run in runs.all where run.identifier == order.identifier { run.noteSuccessor() }
    } catch {
      let error = BGTaskScheduler.Error(error)
      // Apps tend to ignore this error and then never run again.
      if error.code == .unavailable, state.withLock({ $0.saidUnavailable.insert(request.identifier).inserted }) {
        log(.warning, "the next request of \(request.identifier) was not submitted: \(error)")
      }
      throw error
    }
  }

  func cancel(_ identifier: String) {
    guard let target = state.withLock({ $0.registry.target(for: identifier) }) else {
      return log(.warning, "\(identifier) was not cancelled: no launch handler is registered for it")
    }
    do {
      try submitting.withLock {
        try withChannel { channel in
          try channel.cancel(hostIdentifier: target.hostIdentifier, identifier: identifier)
        }
      }
    } catch {
      log(.warning, "\(identifier) was not cancelled: \(BGTaskScheduler.Error(error))")
    }
  }

  func cancelAll() {
    do {
      try submitting.withLock { try withChannel { try $0.cancelAll() } }
    } catch {
      log(.warning, "the pending requests were not cancelled: \(BGTaskScheduler.Error(error))")
    }
  }

  /// The pending requests, one for each identifier: a retried run may wait beside the request that its handler submitted.
  func pendingRequests() -> [BGTaskRequest] {
    let pending: [ListedRequest]
    do {
      pending = try withChannel { try $0.pending() }
    } catch is BGTaskScheduler.Error {
      return []  // no host to ask; a submission gets the error
    } catch {
      log(.warning, "the pending requests could not be listed: \(BGTaskScheduler.Error(error))")
      return []
    }
    let state = state.withLock { $0 }
    var newest: [String: Int] = [:]
    for (index, request) in pending.enumerated() { newest[request.identifier] = index }
    return newest.values.sorted().map { index in
      let request = pending[index]
      let hint = state.registry.target(for: request.identifier)?.hint ?? state.registry.targets[request.hostIdentifier]?.hint
      return request.request(fallback: hint ?? state.lastTypes[request.identifier] ?? .processing)
    }
  }

  /// Calls `body`, which calls the app, on a background queue. A launch lasts until `body` returns.
  func callBack(_ body: @escaping @Sendable () -> Void) {
    let isLaunching = state.withLock { $0.launch != nil }
    if isLaunching { launchCallbacks.enter() }
    DispatchQueue.global().async {
      body()
      if isLaunching { self.launchCallbacks.leave() }
    }
  }

  private func order(_ request: BGTaskRequest) throws -> (Order, Target) {
    let identifier = request.identifier
    let (registry, host) = state.withLock { ($0.registry, $0.host) }
    guard host != nil else { throw Self.unavailable("the plugin was not launched by taskhost") }
    guard let target = registry.target(for: identifier), registry.handler(for: identifier) != nil else {
      throw BGTaskScheduler.Error(.notPermitted, "no launch handler is registered for \(identifier)")
    }
    let resources = (request as? BGContinuedProcessingTaskRequest)?.requiredResources ?? []
    guard supportedResources.isSuperset(of: resources) else {
      throw BGTaskScheduler.Error(.notPermitted, "\(identifier) requires resources that the host does not offer: see supportedResources")
    }
    var record = request.record
    if target.isWildcard { record.identifier = identifier }
    // Work that a person started begins at once.
    let begin = request.type == .continued ? 0 : Order.milliseconds(request.earliestBeginDate)
    var order = Order(hostIdentifier: target.hostIdentifier, record: record, conditions: request.conditions, earliestBegin: begin)
    if resources.contains(.gpu) { order.resources = [Self.gpu: 1] }
    return (order, target)
  }

  /// Submits a request; without its conditions or pace if the host does not offer them, because running early beats never running.
  private func submit(_ order: Order, atOnce: Bool, _ channel: any RequestChannel) throws {
    do { try channel.submit(order, atOnce: atOnce) } catch let error as TaskHostError
      where error.code == .invalid && order.earliestBegin == Order.paced
    {
      try submit(order.withoutPace, atOnce: atOnce, channel)
    } catch let error as TaskHostError where error.code == .unsupported && order.conditions != 0 {
      // Logged first: the submission may end the run of an app that submits just after completing its task.
      if state.withLock({ $0.saidIgnored.insert("\(order.identifier) \(order.conditions)").inserted }) {
        log(
          .warning,
          "\(order.identifier): this host does not observe the conditions the request requires (\(Self.names(order.conditions))); "
            + "it is submitted without them and may run while they do not hold")
      }
      try channel.submit(order.withoutConditions, atOnce: atOnce)
    }
  }

  private static func names(_ conditions: UInt32) -> String {
    let names = [(TASKHOST_REQUIRES_NETWORK, "network"), (TASKHOST_REQUIRES_POWER, "power")]
    return names.filter { conditions & UInt32($0.0) != 0 }.map(\.1).joined(separator: ", ")
  }

  private func checkLimit(_ order: Order, _ pending: [ListedRequest], _ target: Target) throws {
    guard let limit = order.record.type.pendingLimit else { return }
    let same = pending.filter {
      $0.identifier != order.identifier && ($0.record?.type ?? .processing).hostKind == order.record.type.hostKind
    }
    let identifiers = Set(same.map(\.identifier))
    guard identifiers.count >= limit else { return }
    throw BGTaskScheduler.Error(
      .tooManyPendingTaskRequests,
      "\(limit) of the kind may be pending, and these are: \(identifiers.sorted().joined(separator: ", "))")
  }

  private func checkFree(_ order: Order, _ pending: [ListedRequest], _ target: Target) throws {
    let live = runs.all.filter { $0.hostIdentifier == order.hostIdentifier }.count
    let waiting = pending.filter { $0.hostIdentifier == order.hostIdentifier && $0.identifier != order.identifier }.count
    guard live + waiting >= Int(target.maxConcurrentRuns) else { return }
    throw BGTaskScheduler.Error(
      .immediateRunIneligible, "\(live) of at most \(target.maxConcurrentRuns) runs are live and \(waiting) requests wait")
  }

  /// Calls `body` with a channel to the host: the launch, else a live run; the next run if that one ends meanwhile.
  private func withChannel<Result>(_ body: (any RequestChannel) throws -> Result) throws -> Result {
    if let launch = state.withLock({ $0.launch }) {
      do { return try body(launch) } catch let error as TaskHostError where error.isOver {}
    }
    for channel in runs.channels {
      do { return try body(channel) } catch let error as TaskHostError where error.isOver {}
    }
    throw Self.unavailable(
      "the launch is over and no run of the plugin is live. Submit while launching, or in a run before it is completed")
  }

  private static func unavailable(_ reason: String) -> BGTaskScheduler.Error { BGTaskScheduler.Error(.unavailable, reason) }
}
