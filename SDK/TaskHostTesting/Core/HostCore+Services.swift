import HostThreads
import MemoryStore
import RecordJSON
import TaskScheduler
import TaskModel

/// The services of runs. Unlike in a host, a test can make calls slow, fail, or be interrupted.
extension HostCore: RunServices {
  var wallTime: WallTime { clock.wallTime }

  func state(_ key: String, for run: RunReference) throws(CallFailure) -> [UInt8]? {
    try serve(.stateGet, run) { (_) throws(CallFailure) in
      try reading { () throws(StoreError) in try store.stateValue(key, of: run.identifier) }
    }
  }

  func setState(_ key: String, to value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    try serve(.stateSet, run) { (state) throws(CallFailure) in
      try changing { () throws(RequestRefusal) in try scheduler.setState(key, to: value, of: run.identifier, from: run) }
      state.report.stateWrites += 1
      happened(state) { $0 == .stateWrite(state.report.stateWrites) }
    }
  }

  func checkpoint(for run: RunReference) throws(CallFailure) -> [UInt8]? {
    try serve(.checkpointGet, run) { (_) throws(CallFailure) in
      try reading { () throws(StoreError) in try store.checkpoint(of: run.request) }
    }
  }

  func setCheckpoint(_ value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    let before = { (state: RunState) in
      if value != nil { self.happened(state) { $0 == .beforeCheckpoint(state.report.checkpoints.count + 1) } }
    }
    try serve(.checkpointSet, run, before: before) { (state) throws(CallFailure) in
      try changing { () throws(RequestRefusal) in try scheduler.setCheckpoint(value, of: run.request, from: run) }
      guard let value else { return }
      state.report.checkpoints.append(value)
      happened(state) { $0 == .checkpoint(state.report.checkpoints.count) }
    }
  }

  func submit(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    try serve(.submit, run) { (state) throws(CallFailure) in
      try checkMaySubmit(state.plugin.identifiers, run.identifier, request)
      let plugin = state.plugin.identifiers.first ?? run.identifier
      let submission = try changing { () throws(RequestRefusal) in try scheduler.submit(request, from: run, by: plugin) }
      state.report.submissions.append(SubmittedRequest(request))
      happened(state) { $0 == .submission(state.report.submissions.count) }
      return submission
    }
  }

  func cancel(_ request: RequestID, for run: RunReference) throws(CallFailure) {
    try serve(.cancel, run) { (state) throws(CallFailure) in
      try checkLive(request, state, run)
      try changing { () throws(RequestRefusal) in try scheduler.cancel(request) }
      state.report.cancellations.append(request.description)
    }
  }

  func pendingRequests(after request: RequestID?, for run: RunReference) throws(CallFailure) -> PendingPage {
    try serve(.list, run) { (state) throws(CallFailure) in
      try reading { () throws(StoreError) in try store.pendingRequests(of: state.plugin.identifiers, after: request) }
    }
  }

  func cancelPending(of identifier: TaskIdentifier?, for run: RunReference) throws(CallFailure) -> Int {
    try serve(.cancel, run) { (state) throws(CallFailure) in
      let own = state.plugin.identifiers
      if let identifier, !own.contains(identifier) {
        throw CallFailure(.notPermitted, "\(identifier) is not an identifier of the plugin that registered \(run.identifier)")
      }
      let waiting = requests([.pending, .blocked])
      let count = try changing { () throws(RequestRefusal) in
        try scheduler.cancelPending(of: identifier.map { [$0] } ?? own, from: run)
      }
      state.report.cancellations += waiting.map(\.id).filter { (try? store.request($0)?.state) == .cancelled }.map(\.description)
      return count
    }
  }

  func notify(_ event: String, payload: [UInt8]?, for run: RunReference) throws(CallFailure) -> Int {
    try serve(.notify, run) { (state) throws(CallFailure) in
      try EventRules(others: [run.identifier: events]).check(event, from: run.identifier, own: state.plugin.identifiers)
      let receipt = try changing { () throws(RequestRefusal) in try scheduler.notify(event, payload: payload, from: run) }
      state.report.events.append(RaisedEvent(name: event, payload: payload))
      changed(state)
      return receipt.waiting
    }
  }

  func answer(to question: PluginQuestion, for run: RunReference) throws(CallFailure) -> AnswerPage {
    try serve(.list, run) { (state) throws(CallFailure) in
      let answers = PluginAnswers(store, rules: rules(of: run.identifier)) { [self] (record) throws(CallFailure) in
        do throws(StoreError) { return try scheduler.explanation(of: record) } catch { throw CallFailure(.unavailable, error.description) }
      } conditions: { [self] () throws(CallFailure) in
        conditionReport
      }
      return try answers.answer(to: question, from: run.identifier, own: state.plugin.identifiers)
    }
  }

  func snooze(_ request: RequestID, for delay: Duration, from run: RunReference) throws(CallFailure) -> Submission {
    try serve(.submit, run) { (state) throws(CallFailure) in
      try checkLive(request, state, run)
      let snoozed = try changing { () throws(RequestRefusal) in
        try scheduler.snooze(request, until: clock.wallTime + delay, from: run)
      }
      return Submission(id: request, disposition: .updated, nextStart: snoozed.record.due, notes: snoozed.notes)
    }
  }

  func update(_ request: RequestID, with fields: TaskRequest, from run: RunReference) throws(CallFailure) -> Submission {
    try serve(.submit, run) { (state) throws(CallFailure) in
      try checkLive(request, state, run)
      try checkMaySubmit(state.plugin.identifiers, run.identifier, to: fields.identifier)
      try rules(of: run.identifier).checkFields(of: fields, own: state.plugin.identifiers)
      return try changing { () throws(RequestRefusal) in try scheduler.update(request, with: fields, from: run) }
    }
  }

  private func checkLive(_ request: RequestID, _ state: RunState, _ run: RunReference) throws(CallFailure) {
    let record = try reading { () throws(StoreError) in try store.request(request) }
    _ = try rules(of: run.identifier).visible(record, request, to: run.identifier, own: state.plugin.identifiers, isLive: true)
  }

  func openFiles(_ files: [FileQuestion], in directory: String, for run: RunReference) throws(CallFailure) -> [FileUse] {
    throw CallFailure(.unsupported, "a test host does not look for open files")
  }

  func transferFolder(for run: RunReference) throws(CallFailure) -> String {
    try serve(.list, run) { (state) throws(CallFailure) in try transferPermission(state.plugin.identifiers, run).folder }
  }

  func submitTransfer(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    try serve(.submit, run) { (state) throws(CallFailure) in
      let order = try transferPermission(state.plugin.identifiers, run).order(request)
      let plugin = state.plugin.identifiers.first ?? run.identifier
      return try changing { () throws(RequestRefusal) in try scheduler.submit(order, from: run, by: plugin) }
    }
  }

  func change(transfer id: RequestID, _ change: TransferChange, for run: RunReference) throws(CallFailure) {
    try serve(.cancel, run) { (state) throws(CallFailure) in
      _ = try liveTransfer(id, state.plugin.identifiers)
      let pause = RequestPause(byPlugin: run.identifier, since: clock.wallTime)
      try changing { () throws(RequestRefusal) in
        switch change {
        case .cancel: try scheduler.cancel(id, quietly: true)
        case .pause: try scheduler.pause(id, pause)
        case .resume: try scheduler.resume(id, isPlugins: true)
        }
      }
    }
  }

  func beginAssertion(_ request: AssertionRequest, for run: RunReference) throws(CallFailure) -> AssertionID {
    try serve(.assertion, run) { (state) throws(CallFailure) in
      guard !isDraining else { throw CallFailure(.unavailable, "the host is draining: it waits for no new assertion") }
      let id = AssertionID(sequence: Int64(clamping: newNumber()), origin: 1)
      let began = clock.elapsed - state.report.started
      state.assertions[id] = (state.report.assertions.count, clock.elapsed + request.length)
      state.report.assertions.append(RunAssertion(name: request.name, reason: request.reason, length: request.length, began: began))
      return id
    }
  }

  func endAssertion(_ id: AssertionID, for run: RunReference) throws(CallFailure) {
    try serve(.assertion, run) { (state) throws(CallFailure) in
      guard let (index, _) = state.assertions.removeValue(forKey: id) else { throw CallFailure(.notFound, "there is no assertion \(id)") }
      state.report.assertions[index].end(at: clock.elapsed - state.report.started, .given)
      drainIfDue(state)
    }
  }

  /// The requests in the given states, all if empty, in the order of submission.
  func requests(_ states: [RequestState] = []) -> [RequestRecord] {
    var query = RequestQuery()
    query.states = states
    query.limit = .max
    return ((try? store.requests(query)) ?? []).reversed()
  }

  private func reading<Value>(_ body: () throws(StoreError) -> Value) throws(CallFailure) -> Value {
    do { return try body() } catch { throw CallFailure(.unavailable, error.description) }
  }

  /// Changes the scheduler and carries out the effects, with the lock held.
  private func changing<Value>(_ body: () throws(RequestRefusal) -> Value) throws(CallFailure) -> Value {
    do {
      let value = try body()
      carryOut()
      return value
    } catch { throw CallFailure(error) }
  }

  /// Serves a call of a run, with the test's delays and failures. Never returns to a killed run.
  private func serve<Value>(
    _ call: HostCall, _ reference: RunReference, before: (RunState) -> Void = { _ in },
    _ body: (RunState) throws(CallFailure) -> Value
  ) throws(CallFailure) -> Value {
    monitor.lock()
    guard let run = states[reference.run] else {
      monitor.unlock()
      throw .stale
    }
    let result = Result { () throws(CallFailure) -> Value in
      run.looks = 0
      before(run)
      sleep(run, until: clock.elapsed + faults.delay(of: call), wakesAtExpiration: false)
      guard !run.isKilled else { throw .stale }
      if let failure = faults.failure(of: call, at: clock.elapsed) { throw failure }
      return try body(run)
    }
    changed(run)
    let isKilled = run.isKilled
    monitor.unlock()
    if isKilled { Frozen.forever() }
    return try result.get()
  }
}
