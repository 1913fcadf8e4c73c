import HostThreads
import PluginTrust
import RecordJSON
import TaskModel
import TaskScheduler
import TaskStore
import TypedCalls
import ValueSealing
import WorkerProcesses

/// A configuration that was verified, with plugins that were launched, beside those in force.
struct PreparedReload: Sendable {
  let rules: HostRules
  /// What it is made of.
  let sources: ReloadSources
  let launching: PluginLaunching
  let plugins: PluginLaunching.Result
  /// What the workers of these plugins are made with.
  let specs: WorkerSpecs
  /// Who is told from then on; in a dry run, who is told now.
  let tellers: Tellers
  /// What is in force until then.
  let before: (rules: HostRules, launched: Host.Launched, tellers: Tellers)
  var report: ReloadReport
  /// The keys of the store, read anew.
  let sealing: StoreSealing?

  private var contracts: [HandlerContract] { plugins.registered.flatMap(\.contracts) }

  /// - Throws: All that is wrong with it.
  init(_ host: Host, _ configuration: HostConfiguration, _ sources: ReloadSources, isDry: Bool) throws(ReloadFailure) {
    self.sources = sources
    before = (host.rules.current, host.launched.withLock { $0 }, host.events.tellers)
    let present = before.rules.configuration
    let changes = present.written.changes(to: configuration.written)
    var problems = present.keysThatNeedRestart(for: configuration, among: changes).map {
      "\($0): only a restart of the host changes it: restart the host, or undo the change"
    }
    do throws(HostFailure) { try configuration.checkDemands() } catch { problems += ReloadFailure(error).problems }
    do throws(HostFailure) { sealing = try host.sealing(for: configuration) } catch {
      sealing = nil
      problems += ReloadFailure(error).problems
    }
    if configuration.written.isEmpty, !present.written.isEmpty {
      // Most editors and copying programs empty a file before they write it.
      problems.append(
        "the file sets no key, as one that is just being written: reload again when it is written, or restart the host for all defaults")
    }
    guard problems.isEmpty else { throw ReloadFailure(problems) }
    let running = before.launched.registry.registered
    let effective: HostConfiguration
    do throws(HostFailure) {
      let approvals = try host.parts.approvalRule(for: configuration)
      // A plugin that waits goes on with what it had.
      let waiting = running.filter { $0.candidate.command == nil && approvals?.held($0)?.pending.isRunning == true }.flatMap(\.identifiers)
      let known = configuration.keepingTables(of: waiting, from: present)
      launching = try PluginLaunching(
        host.parts, HostRules(known, stateDirectory: host.stateDirectory), approvals: approvals,
        beside: RunningPlugins(running, before.launched.specs), isDry: isDry, host.log)
      plugins = try launching.launch()
      effective = known.keepingTables(of: plugins.retained, from: present)
      do throws(HostFailure) {
        specs =
          plugins.retained.allSatisfy(waiting.contains)
          ? launching.specs : try WorkerSpecs(effective, stateDirectory: host.stateDirectory)
      } catch {
        Self.close(plugins)
        throw error
      }
    } catch { throw ReloadFailure(error) }
    rules = HostRules(effective, stateDirectory: host.stateDirectory)
    do throws(ReloadFailure) {
      try Self.check(plugins, after: before.launched.registry, effective, allowsMissing: host.allowsMissing)
      let contracts = plugins.registered.flatMap(\.contracts)
      do throws(HostFailure) {
        tellers =
          try isDry
          ? before.tellers
          : before.tellers.next(
            effective, contracts: contracts, after: present, before.launched.registry.registered.flatMap(\.contracts), log: host.log)
      } catch { throw ReloadFailure(error) }
    } catch {
      Self.close(plugins)
      throw error
    }
    report = ReloadReport(
      isDry: isDry,
      keys: present.written.changes(to: effective.written).map {
        ReloadReport.Key($0.path.description, before: $0.shownBefore, after: $0.shownAfter, isSecret: $0.isSecret)
      },
      plugins: Self.changes(plugins, after: before.launched.registry, present, effective))
    report.held = plugins.held.map(\.pending)
    report.notes =
      Self.changedKeys(before.launched.registry.trustedKeys, plugins.trustedKeys)
      + Self.changedKeys(host.store.sealing, sealing, isNamedAnew: present.encryption != configuration.encryption)
  }

  /// Throws all that the new set must not do.
  private static func check(
    _ plugins: PluginLaunching.Result, after before: PluginLaunching.Result, _ configuration: HostConfiguration, allowsMissing: Bool
  ) throws(ReloadFailure) {
    var problems: [String] = []
    for refused in plugins.refused where !before.refused.contains(where: { $0.refusal.file == refused.refusal.file }) {
      problems.append("\(refused.refusal)")
    }
    let places = Set(plugins.registered.map(\.candidate.place) + plugins.refused.map(\.refusal.file))
    for plugin in before.registered where plugin.isBound && !places.contains(plugin.candidate.place) {
      problems.append(
        "\(plugin.identifiers[0]): it runs in threads of the host, where code cannot be unloaded: restart the host to remove it, or put "
          + "\(plugin.candidate.path) back")
    }
    if !allowsMissing {
      let offered = Set(plugins.registered.flatMap(\.identifiers) + plugins.held.flatMap(\.identifiers))
      do throws(HostFailure) { try configuration.checkPermitted(offered: offered, refused: plugins.refused) } catch {
        problems += ReloadFailure(error).problems.filter { problem in !problems.contains { problem.hasSuffix($0) } }
      }
    }
    do throws(HostFailure) {
      try Host.check(configuration.scheduledRequests(), TypedPayloads(plugins.registered.flatMap(\.contracts)).rejecting)
    } catch { problems += ReloadFailure(error).problems }
    guard problems.isEmpty else { throw ReloadFailure(problems) }
  }

  /// Trusted keys that a file holds in place of others: the configuration does not show that.
  private static func changedKeys(_ before: [TrustedKey], _ after: [TrustedKey]) -> [String] {
    let known = Dictionary(before.map { ($0.name, $0.key) }) { first, _ in first }
    return after.compactMap { key in
      guard let old = known[key.name], old != key.key else { return nil }
      return "trusted_keys: \(key.name) holds another key: \(key.key.id) instead of \(old.id)"
    }
  }

  /// The same for the keys of the store.
  private static func changedKeys(_ before: StoreSealing?, _ after: StoreSealing?, isNamedAnew: Bool) -> [String] {
    guard !isNamedAnew, let before, let after, before.keys.ids != after.keys.ids else { return [] }
    func names(_ sealing: StoreSealing) -> String { sealing.keys.ids.map(\.description).joined(separator: ", ") }
    return ["encryption: other keys are in the same place: \(names(after)) instead of \(names(before))"]
  }

  private static func changes(
    _ plugins: PluginLaunching.Result, after before: PluginLaunching.Result, _ present: HostConfiguration, _ next: HostConfiguration
  ) -> [ReloadReport.Plugin] {
    var known: [TaskIdentifier: RegisteredPlugin] = [:]
    for plugin in before.registered { for identifier in plugin.identifiers { known[identifier] = plugin } }
    let registered = Set(plugins.registered.flatMap(\.identifiers))
    var changes: [ReloadReport.Plugin] = []
    for plugin in plugins.registered where !plugin.isKept {
      guard let first = plugin.identifiers.first else { continue }
      let replaced = plugin.identifiers.lazy.compactMap { known[$0] }.first
      let fate: ReloadReport.Plugin.Fate =
        replaced.map { $0.candidate.digest == plugin.candidate.digest ? .relaunched : .replaced } ?? .added
      let old = replaced.map { PluginPermissions(of: $0.identifiers, in: present) }
      changes.append(change(of: plugin, first, fate, from: old, to: PluginPermissions(of: plugin.identifiers, in: next)))
    }
    for plugin in before.registered where registered.isDisjoint(with: plugin.identifiers) {
      guard let first = plugin.identifiers.first else { continue }
      changes.append(change(of: plugin, first, .removed, from: PluginPermissions(of: plugin.identifiers, in: present), to: nil))
    }
    return changes.sorted { $0.identifier < $1.identifier }
  }

  /// What a plugin that comes or goes may do is compared with what one without a table may.
  private static func change(
    of plugin: RegisteredPlugin, _ first: TaskIdentifier, _ fate: ReloadReport.Plugin.Fate, from old: PluginPermissions?,
    to new: PluginPermissions?
  ) -> ReloadReport.Plugin {
    let usual = PluginPermissions.withoutTable(plugin.identifiers)
    let (old, new) = (old ?? usual, new ?? usual)
    return ReloadReport.Plugin(first, file: plugin.candidate.place, fate, gained: new.gained(over: old), lost: new.lost(since: old))
  }

  /// What the scheduler is to put in force.
  ///
  /// - Parameters:
  ///   - shared: The identifiers whose schedules are the fleet's.
  ///   - adopted: Called on the scheduler's thread once that is durable; returns the launcher.
  func plan(besides shared: Set<TaskIdentifier>, adopted: @escaping @Sendable (_ payloads: TypedPayloads) -> (any Launcher)?)
    -> SchedulingPlan
  {
    let configuration = rules.configuration
    var plan = SchedulingPlan(
      policy: configuration.schedulingPolicy(), contracts: contracts,
      schedules: configuration.scheduledRequests().filter { !shared.contains($0.key.identifier) })
    let payloads = TypedPayloads(contracts)
    plan.policy.awaitingApproval = plugins.awaitingApproval
    plan.changes = plugins.changes(sharing: shared)
    plan.rejection = payloads.rejecting
    plan.completions = rules.completions(among: plugins.registered.map(\.identifiers))
    plan.adopted = { adopted(payloads) }
    return plan
  }

  /// Ends what was made for it: it is not put in force. Blocks.
  func discard() {
    Self.close(plugins)
    tellers.stop(except: before.tellers)
  }

  private static func close(_ plugins: PluginLaunching.Result) {
    for plugin in plugins.registered where !plugin.isKept {
      if case .process(let worker) = plugin.placement { worker.close() }
    }
  }
}
