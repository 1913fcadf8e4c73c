import CTaskHost
import Synchronization
import TaskHostSDK

extension SchedulerCore {
  /// Serves one run, on the thread that the host calls on.
  ///
  /// - Returns: The result of the C handler.
  func serve(_ task: taskhost_task, _ hostIdentifier: String) -> taskhost_result {
    guard let host = state.withLock({ $0.host }) else { return taskhost_result(TASKHOST_FAILURE) }
    let handle = RunHandle(table: host, task: task)
    guard let payload = try? handle.payload() else { return taskhost_result(TASKHOST_RETRY) }  // the run is over: nobody reads this
    do {
      if let ended = try EndedTransfer(of: handle) { return serve(ended, handle, hostIdentifier) }
    } catch {
      handle.setMessage("the host did not say what became of a transfer: \(error)")
      return taskhost_result(TASKHOST_RETRY)
    }
    let record = RequestDetails(payload: payload)
    let identifier = record?.identifier ?? hostIdentifier
    let registry = state.withLock { $0.registry }
    guard let target = registry.targets[hostIdentifier], let handler = registry.handler(for: identifier) ?? wildcardHandler(hostIdentifier)
    else {
      handle.setMessage("no launch handler is registered for \(identifier) in this process: register \(hostIdentifier).* while launching")
      return taskhost_result(TASKHOST_FAILURE)
    }
    let type = type(of: identifier, record, target, handle)
    let budget = type == .refresh && target.kind != type.hostKind ? timing.refresh : nil
    let run = TaskRun(self, RunChannel(handle), identifier: identifier, hostIdentifier: hostIdentifier, type: type)
    return CurrentRun.including(run.channel.gated) { runs.including(run) { run.serve(handler, record, budget: budget) } }
  }

  /// Serves the run that tells of a background session's events.
  private func serve(_ ended: EndedTransfer, _ handle: RunHandle, _ hostIdentifier: String) -> taskhost_result {
    let run = TaskRun(self, RunChannel(handle), identifier: hostIdentifier, hostIdentifier: hostIdentifier, type: .processing)
    return CurrentRun.including(run.channel.gated) {
      runs.including(run) {
        let problem = transfers.deliver(ended, run)
        transfers.flush(handle) { run.log($0, $1) }
        if let problem { handle.setMessage(problem) }
        run.channel.close()
        return taskhost_result(problem == nil ? TASKHOST_SUCCESS : TASKHOST_RETRY)
      }
    }
  }

  /// The wildcard's handler, for a run that an operator started under the host's identifier.
  private func wildcardHandler(_ hostIdentifier: String) -> LaunchHandler? {
    state.withLock { $0.registry.handler(for: hostIdentifier + ".*") }
  }

  /// The kind of the run: from its request, else the author's hint, the last submission, the last run, or processing.
  private func type(of identifier: String, _ record: RequestDetails?, _ target: Target, _ run: RunHandle) -> BackgroundTasksPlugin.Kind {
    if let hint = target.hint { return record?.type ?? hint }
    guard let record else { return state.withLock { $0.lastTypes[identifier] } ?? run.rememberedType ?? .processing }
    if state.withLock({ $0.rememberedTypes.updateValue(record.type, forKey: identifier) }) != record.type { run.remember(record.type) }
    return record.type
  }
}

extension RunHandle {
  /// The kind of the identifier's last run, from its durable state, which outlives the process.
  var rememberedType: BackgroundTasksPlugin.Kind? {
    guard let text = try? StateStore(run: self).get(Self.stateKey) else { return nil }
    return BackgroundTasksPlugin.Kind(rawValue: String(decoding: text, as: UTF8.self))
  }

  /// Stores the kind of the identifier's runs if it changed. A run does not fail because its state cannot be written.
  func remember(_ type: BackgroundTasksPlugin.Kind) {
    guard rememberedType != type else { return }
    try? StateStore(run: self).set(Self.stateKey, Array(type.rawValue.utf8))
  }

  private static let stateKey = "org.taskhost.background-tasks.type"
}
