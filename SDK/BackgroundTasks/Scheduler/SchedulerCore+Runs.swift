import CTaskHost
import Synchronization

extension SchedulerCore {
  /// Serves one run, on the thread that the host calls on.
  ///
  /// - Returns: What the C handler returns.
  func serve(_ task: taskhost_task, _ hostIdentifier: String) -> taskhost_result {
    guard let host = state.withLock({ $0.host }) else { return taskhost_result(TASKHOST_FAILURE) }
    let channel = RunChannel(host: host, task: task)
    guard let payload = channel.payload() else { return taskhost_result(TASKHOST_RETRY) }  // the run is over: nobody reads this
    let record = RequestRecord(payload: payload)
    let identifier = record?.identifier ?? hostIdentifier
    let registry = state.withLock { $0.registry }
    guard let target = registry.targets[hostIdentifier], let handler = registry.handler(for: identifier) ?? wildcardHandler(hostIdentifier)
    else {
      let message = "no launch handler is registered for \(identifier) in this process: register \(hostIdentifier).* while launching"
      _ = message.withCString { host.api.pointee.set_message(task, $0) }
      return taskhost_result(TASKHOST_FAILURE)
    }
    let type = type(of: identifier, record, target, channel)
    let budget = type == .refresh && target.kind != type.kind ? timing.refresh : nil
    let run = TaskRun(self, channel, identifier: identifier, hostIdentifier: hostIdentifier, type: type)
    return runs.including(run) { run.serve(handler, record, budget: budget) }
  }

  /// The handler of a wildcard, for a run that an operator has started under the host's identifier.
  private func wildcardHandler(_ hostIdentifier: String) -> LaunchHandler? {
    state.withLock { $0.registry.handler(for: hostIdentifier + ".*") }
  }

  /// What the run is: as its request says, else the author's hint, else what was submitted last, else what ran last, else processing.
  private func type(of identifier: String, _ record: RequestRecord?, _ target: Target, _ channel: RunChannel) -> TaskType {
    if let hint = target.hint { return record?.type ?? hint }
    guard let record else { return state.withLock { $0.lastTypes[identifier] } ?? channel.rememberedType() ?? .processing }
    if state.withLock({ $0.rememberedTypes.updateValue(record.type, forKey: identifier) }) != record.type { channel.remember(record.type) }
    return record.type
  }
}

extension RunChannel {
  /// A copy of the request's payload, `nil` once the run is over.
  func payload() -> [UInt8]? {
    var bytes: UnsafeRawPointer?
    var length = 0
    guard host.api.pointee.payload(task, &bytes, &length) == taskhost_status(TASKHOST_OK) else { return nil }
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length))
  }

  /// What the identifier's last run was, from its durable state, so that it outlasts the process.
  func rememberedType() -> TaskType? {
    var length = 0
    let text = [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      let status = Self.stateKey.withCString { host.api.pointee.state_get(task, $0, buffer.baseAddress, 32, &length) }
      count = status == taskhost_status(TASKHOST_OK) ? min(length, 32) : 0
    }
    return TaskType(rawValue: String(decoding: text, as: UTF8.self))
  }

  /// Keeps what the identifier's run is, if that is not what is kept. A state that cannot be written is no reason not to run.
  func remember(_ type: TaskType) {
    guard rememberedType() != type else { return }
    _ = Self.stateKey.withCString { key in
      Array(type.rawValue.utf8).withUnsafeBytes { host.api.pointee.state_set(task, key, $0.baseAddress, $0.count) }
    }
  }

  private static let stateKey = "org.taskhost.background-tasks.type"
}
