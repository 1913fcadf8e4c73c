import MemoryStore
import TaskScheduler
import CTaskHost
import HostThreads
import PluginRuntime
import RecordJSON
import TaskModel
import TypedCalls

/// Launching plugins: when the test host begins, and again where a host would start a new process.
extension HostCore {
  /// Launches all plugins and opens the scheduler's books.
  ///
  /// - Throws: ``TestHostError/launchRefused(status:reason:)``.
  func launchAll() throws(TestHostError) {
    var changes: [PluginLaunchChange] = []
    for plugin in plugins {
      let asked = try launch(plugin)
      if let first = plugin.handlers.first { changes += asked.map { PluginLaunchChange($0, by: first.identifier) } }
    }
    let contracts = plugins.flatMap { $0.handlers.map(contract) }
    payloads = TypedPayloads(contracts)
    let refused: [(TaskRequest, RequestRefusal)]
    let identifiers = plugins.map { $0.handlers.map(\.identifier) }
    do {
      refused = try scheduler.open(
        contracts, changes: changes, clocks: clock.reference,
        rejection: { [payloads] in payloads.rejection(to: $0, for: $1) ?? TransferCheck.rejection(to: $0, for: $1) },
        completions: TransferCompletions.rule { [others] target, owner in
          owner == nil || others.contains { $0.matches(target) }
            || identifiers.contains { own in own.contains(target) && owner.map(own.contains) == true }
        })
    } catch { throw TestHostError.system(error.description) }
    if let (_, refusal) = refused.first {
      let failure = CallFailure(refusal)
      throw .launchRefused(status: failure.status.rawValue, reason: "what it submitted while launching was refused: \(failure.message)")
    }
  }

  /// Launches a plugin on a host thread and waits for it, in real time, as long as the watchdog allows.
  ///
  /// - Returns: The changes it asked for; none when a process starts again.
  @discardableResult func launch(_ plugin: HostedPlugin) throws(TestHostError) -> [LaunchChange] {
    let known = monitor.locked { plugin.handlers }
    let policy = TestLaunchPolicy(core: self, plugin: plugin)
    var order: LaunchOrder
    switch plugin.plugin.source {
    case .function(let function, let limit):
      order = LaunchOrder(function: function, identifier: known.first?.identifier, handlerLimit: limit, policy: policy)
    case .file(let path):
      let number = monitor.locked { newNumber() }
      let file = try PluginFile.load(path, copiedTo: dataDirectory, number: number)
      order = LaunchOrder(path: file.path, identifier: known.first?.identifier, handlerLimit: file.handlerLimit, policy: policy)
    }
    order.table = table
    let launched: LaunchedPlugin
    do { launched = try PluginImage.launch(order, budget: options.watchdog) } catch { throw TestHostError(error) }
    let handlers = launched.handlers.map(\.registered)
    guard known.isEmpty || handlers == known else {
      throw .launchRefused(status: CallFailure.Status.invalid.rawValue, reason: "launched again, it registered something else than before")
    }
    let launcher: ThreadLauncher
    do {
      launcher = try ThreadLauncher(
        services: self, stallLimit: { [options] in $0 == .continued ? options.stallLimit : nil }, clock: self,
        sink: { [weak self] in self?.receive($0) })
    } catch { throw TestHostError.system(error.description) }
    launcher.add(launched, contracts: handlers.map(contract))
    monitor.locked {
      plugin.handlers = handlers
      plugin.launcher = launcher
    }
    return known.isEmpty ? launched.changes : []
  }

  /// The handler's registration with the limits of the options.
  private func contract(_ handler: HandlerRegistration) -> HandlerContract {
    HandlerContract(
      identifier: handler.identifier, kind: handler.kind,
      budget: options.budget ?? [handler.kind.defaultBudget, handler.budget].compactMap(\.self).min(),
      grace: options.grace ?? handler.kind.defaultGrace, maxConcurrentRuns: handler.maxConcurrentRuns, displayName: handler.displayName,
      version: handler.version, typed: handler.typed)
  }

  /// A table for one test host. All are alike, but the SDK tells a plugin's instances apart by their tables. The contract says that a table
  /// is never freed, so a test host costs the process one page.
  static func makeTable() throws(TestHostError) -> UnsafePointer<taskhost_api> {
    guard let shared = ContractTable.shared else { throw TestHostError.system("no memory is left for the host's table") }
    var table = shared.pointee
    table.extension = { VirtualTimeTable.extension($0) }
    guard let page = ContractTable.readOnly(table) else { throw TestHostError.system("no memory is left for the host's table") }
    return page
  }
}

private struct TestLaunchPolicy: LaunchPolicy {
  let core: HostCore
  let plugin: HostedPlugin

  func admit(_ identifier: TaskIdentifier) throws(CallFailure) {
    if let permitted = core.options.permittedIdentifiers,
      !permitted.contains(where: { (try? IdentifierPattern($0))?.matches(identifier) ?? false })
    {
      throw CallFailure(.notPermitted, "\(identifier) is not in permitted_identifiers")
    }
    let isTaken = core.monitor.locked { core.plugins.contains { $0 !== plugin && $0.identifiers.contains(identifier) } }
    if isTaken { throw CallFailure(.exists, "\(identifier) is another plugin's") }
  }

  func settings(for identifier: TaskIdentifier) -> String { String(decoding: plugin.plugin.settings, as: UTF8.self) }

  func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String {
    do throws(TestHostError) { return try DataDirectory.folder(of: identifier.rawValue, in: core.dataDirectory) } catch {
      throw CallFailure(.unavailable, error.description)
    }
  }

  func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure) {
    let own = core.monitor.locked { plugin.identifiers }
    try core.checkMaySubmit(own, identifier, request)
  }

  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(CallFailure) -> PendingPage {
    do { return try core.store.pendingRequests(of: identifiers, after: request) } catch {
      throw CallFailure(.unavailable, error.description)
    }
  }

  func entitlement(to path: String) -> PathEntitlement { [] }

  func resourceTokens(_ name: String) -> Int { core.options.resources[name] ?? 0 }

  func log(_ line: TaskModel.LogLine) {
    core.monitor.locked { core.launchLog.append(LogLine(line, at: core.clock.elapsed)) }
  }
}
