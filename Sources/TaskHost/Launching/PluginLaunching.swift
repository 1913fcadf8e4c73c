import Glibc
import HostThreads
import Logging
import PluginRuntime
import PluginTrust
import TaskModel
import TaskScheduler
import WorkerProcesses

/// The launch phases `discovering` and `registering`: every file found becomes a registered plugin or a refusal with a reason.
///
/// No plugin code runs in the host until the file was checked, copied, and launched in a worker that survived it.
struct PluginLaunching {
  let registry: LaunchRegistry
  let specs: WorkerSpecs
  let cache: VerdictCache
  let copies: PluginCopies
  let signatures: SignaturePolicy
  let processes: ProcessLauncher
  /// Plugins that run in a process regardless of the configuration, because they crashed the host.
  let mistrusted: Set<TaskIdentifier>

  /// The plugins that run; nil when the host launches.
  let running: RunningPlugins?
  /// Whether nothing of it is to stay: no code is loaded into the host.
  let isDry: Bool
  /// Which plugins wait for approval; nil if none needs any.
  let approvals: ApprovalRule?

  var configuration: HostConfiguration { registry.configuration }
  var trust: PluginTrustPolicy { SwiftRuntime.trustPolicy }

  /// Both lists are in the order of file names.
  struct Result: Sendable {
    var registered: [RegisteredPlugin] = []
    var refused: [RefusedPlugin] = []
    /// The plugins that wait for approval. Of one that goes on as it was, the former is among the registered.
    var held: [HeldPlugin] = []
    /// The identifiers of plugins that go on as they were.
    var retained: [TaskIdentifier] = []
    /// The keys that signatures were checked with.
    var trustedKeys: [TrustedKey] = []
  }

  enum Settled {
    case registered(RegisteredPlugin)
    case held(HeldPlugin)
  }

  enum Prospect: Sendable {
    /// Its registrations, seen in a worker now or in an earlier launch; the worker, if there is one now.
    case registers([HandlerRegistration], PluginWorker.Launch?, PluginWorker?)
    case refused(RefusedPlugin)
    /// It waits for approval, and none of its code has run with what it asks for.
    case held(HeldPlugin)
  }

  init(
    _ parts: HostParts, _ rules: HostRules, approvals: ApprovalRule?, beside running: RunningPlugins? = nil, isDry: Bool = false,
    _ log: Logger
  ) throws(HostFailure) {
    let configuration = rules.configuration
    (self.approvals, self.running, self.isDry) = (approvals, running, isDry)
    registry = LaunchRegistry(
      configuration: configuration, stateDirectory: parts.directory.path, submissionRules: rules.submissions, store: parts.store,
      fleet: parts.launchFleet, log: log)
    specs = try WorkerSpecs(configuration, stateDirectory: parts.directory.path)
    cache = VerdictCache(parts.store, specs: specs)
    copies = parts.copies
    signatures = try configuration.signaturePolicy()
    processes = parts.processes
    do {
      let pluginHealth = try Scheduler.pluginHealth(
        in: parts.store, crashed: running == nil ? parts.crashed : [:], retry: configuration.schedulingPolicy().retry,
        now: parts.clock.wallTime)
      mistrusted = Set(pluginHealth.filter(\.value.demandsProcess).keys)
    } catch { throw HostFailure(.configuration, "store: \(error)") }
  }

  /// Saves the results for the next launch, and removes unused copies.
  ///
  /// - Parameter leaving: Plugins that may still have runs.
  func conclude(_ result: Result, leaving: [RegisteredPlugin] = [], _ log: Logger) {
    for plugin in result.registered where !plugin.isKept {
      if case .unsigned(let note?) = plugin.candidate.signature { log.warning("\(plugin.candidate.name): \(note)") }
      let wantsThread = configuration.plugin(plugin.contracts[0].identifier.rawValue).isolation == .thread
      if wantsThread, plugin.placement.isolation == .process {
        log.error(
          "\(plugin.contracts[0].identifier) runs in a worker process although thread isolation is configured: it crashed the host; taskhost plugins release allows threads again"
        )
      }
    }
    guard copies.settle() else { return log.warning("the private copies of plugins could not be written to the disk for certain") }
    do { try cache.save() } catch { log.warning("what was found out about plugins cannot be kept for the next launch: \(error)") }
    copies.removeAllBut(Set((result.registered + leaving).map { $0.candidate.copyDigest ?? $0.candidate.digest }))
  }

  func launch() throws(HostFailure) -> Result {
    let scan: PluginDirectoryScan
    do {
      scan = try PluginDirectoryScan(directories: configuration.pluginDirectories, policy: trust, known: { cache.files[$0] })
    } catch {
      throw HostFailure(.configuration, "plugin directory \(error)")
    }
    var result = Result(refused: scan.refused.map { RefusedPlugin(refusal: $0, identifier: nil) })
    result.trustedKeys = signatures.keys
    // Copies and probes are slow and independent; precedence is decided afterwards.
    let prospects = Parallel.map(scan.entries) { entry in prospect(entry) } + commandProspects()
    var loaded = loadAhead(prospects)
    for (index, (candidate, prospect)) in prospects.enumerated() {
      do throws(PluginRefusal) {
        switch (candidate, prospect) {
        case (let candidate?, .registers(let registrations, let launch, let worker)):
          switch try settle(candidate, registrations, launch, worker, loaded: loaded.removeValue(forKey: index)) {
          case .registered(let plugin): result.registered.append(plugin)
          case .held(let held): result.held.append(held)
          }
        case (_, .held(let held)): result.held.append(held)
        case (_, .refused(let refused)): result.refused.append(refused)
        case (nil, .registers): break
        }
      } catch {
        let identifier = candidate.flatMap { self.identifier(of: $0) }
        result.refused.append(RefusedPlugin(refusal: error, identifier: identifier, isTemporary: error.code == .launchTimeout))
      }
    }
    retainFormer(in: &result)
    return result
  }

  // MARK: In parallel for all files

  private func prospect(_ entry: PluginDirectoryScan.Entry) -> (PluginCandidate?, Prospect) {
    if let held = heldAsItIs(entry.path) { return (nil, .held(held)) }
    do throws(PluginRefusal) {
      var candidate = try verify(entry)
      if let file = candidate.remembered { cache.note(file) }
      if let present = running?.plugin(of: candidate, in: specs) { return (candidate, .registers(present.registrations, nil, nil)) }
      let identifier = identifier(of: candidate)
      if let known = identifier.flatMap({ cache.registrations(of: candidate.digest, as: $0) }) {
        return (candidate, .registers(known, nil, nil))
      }
      candidate = try withSummary(candidate)
      return (candidate, probe(candidate, self.identifier(of: candidate), isProvisional: true))
    } catch {
      var identifier: TaskIdentifier?
      if case .manifest(let file) = entry { identifier = (try? AdoptionManifest(file)).flatMap { try? TaskIdentifier($0.identifier) } }
      return (nil, .refused(RefusedPlugin(refusal: error, identifier: identifier)))
    }
  }

  private func verify(_ entry: PluginDirectoryScan.Entry) throws(PluginRefusal) -> PluginCandidate {
    if case .known(let file) = entry, let copy = copies.copy(of: file) {
      let signature = try signatures.check(digest: file.digest, of: file.path)
      return PluginCandidate(path: file.path, digest: file.digest, copy: copy, elf: nil, signature: signature, remembered: file)
    }
    if case .manifest(let file) = entry {
      return try PluginCandidate(adopting: file, copies: copies, signatures: signatures, policy: trust)
    }
    let verified = try copies.take(entry.path, policy: trust, listed: entry.listed)
    let signature = try signatures.check(verified)
    return PluginCandidate(
      path: verified.file.path, digest: verified.digest, copy: verified.copy, elf: verified.file.elf, signature: signature,
      remembered: verified.remembered)
  }

  /// The plugin's identifier before its code runs: from the configuration, its note, or an earlier registration of the same content.
  private func identifier(of candidate: PluginCandidate) -> TaskIdentifier? {
    if let known = candidate.adoption?.identifier ?? candidate.command { return known }
    if let known = registry.rules.identifier(of: candidate.name, note: candidate.elf?.note) { return known }
    return cache.identity(of: candidate.digest)
  }

  /// Launches a candidate in a worker. If its identifier is unknown, a temporary worker in the default sandbox determines it.
  private func probe(
    _ candidate: PluginCandidate, _ identifier: TaskIdentifier?, isProvisional: Bool, isOwner: Bool = false
  ) -> Prospect {
    if let identifier, let held = held(candidate, [identifier]) { return .held(held) }
    do {
      let worker = try worker(
        for: candidate, identifier, handlerLimit: handlerLimit(of: candidate), isProvisional: isProvisional, isOwner: isOwner)
      let launch: PluginWorker.Launch
      do { launch = try worker.launch() } catch {
        // In the default sandbox it may lack what its settings would allow, but it has already named its identifier.
        guard identifier == nil, let claimed = worker.claimedIdentifier, configuration.plugins[claimed.rawValue] != nil else { throw error }
        return probe(candidate, claimed, isProvisional: isProvisional)
      }
      do { try agree(launch.registrations, with: candidate) } catch {
        worker.close()
        throw error
      }
      guard identifier == nil, let found = launch.registrations.first?.identifier else {
        worker.retire()
        return .registers(launch.registrations, launch, worker)
      }
      worker.close()
      // Its settings may differ from those of the temporary worker.
      if launch.askedForSettings || configuration.plugins[found.rawValue] != nil {
        return probe(candidate, found, isProvisional: isProvisional)
      }
      return .registers(
        launch.registrations, launch, try self.worker(for: candidate, found, handlerLimit: handlerLimit(of: candidate)))
    } catch let failure as LaunchFailure {
      return .refused(
        RefusedPlugin(refusal: failure.refusal(of: candidate.place), identifier: identifier, isTemporary: failure.isTemporary))
    } catch {
      return .refused(RefusedPlugin(refusal: Self.refusal(of: candidate, error), identifier: identifier))
    }
  }

  /// Throws if the note in the file differs from the registration.
  private func agree(_ registrations: [HandlerRegistration], with candidate: PluginCandidate) throws(LaunchFailure) {
    guard let note = candidate.elf?.note else { return }
    guard let registered = registrations.first(where: { $0.identifier.rawValue == note.identifier }) else {
      throw LaunchFailure(step: .note, observed: "its note says \(note.identifier), which it did not register")
    }
    func compare(_ key: String, _ noted: String?, _ registered: String?) throws(LaunchFailure) {
      guard let noted, noted != registered else { return }
      throw LaunchFailure(step: .note, observed: "its note says \(key)=\(noted), it registered \(registered ?? "none")")
    }
    try compare("kind", note.kind?.rawValue, registered.kind.rawValue)
    try compare("budget_ms", note.budgetMilliseconds.map { "\($0)" }, registered.budget.map { "\($0.wholeMilliseconds)" } ?? "0")
    try compare("version", note.version, registered.version)
  }

  // MARK: File by file

  /// Assigns a candidate its identifiers and its placement, or refuses it, or finds that it waits for approval.
  private func settle(
    _ candidate: PluginCandidate, _ registrations: [HandlerRegistration], _ launch: PluginWorker.Launch?, _ worker: PluginWorker?,
    loaded: Swift.Result<LaunchedPlugin, LaunchFailure>?
  ) throws(PluginRefusal) -> Settled {
    var registrations = registrations
    var launch = launch
    var worker = worker
    do throws(CallFailure) {
      for registration in registrations { try registry.check(registration.identifier, for: candidate.name, isProvisional: false) }
    } catch {
      // Launch again, so that the plugin learns of the refusal and can react.
      worker?.close()
      switch probe(try withSummary(candidate), registrations.first?.identifier, isProvisional: false) {
      case .refused(let refused): throw refused.refusal
      case .held(let held): return .held(held)
      case .registers(let others, let second, let another): (registrations, launch, worker) = (others, second, another)
      }
    }
    for registration in registrations {
      if let refusal = candidate.signature.refusal(of: registration.identifier, file: candidate.place) {
        worker?.close()
        throw refusal
      }
    }
    guard let identifier = registrations.first?.identifier else {
      throw LaunchFailure(step: .registration, observed: "it registered no handler").refusal(of: candidate.place)
    }
    if let held = held(candidate, registrations.map(\.identifier)) {
      worker?.close()
      // So that the next launch knows what it registers, without running it.
      if launch == nil { cache.note(candidate, registrations, as: identifier) }
      return .held(held)
    }
    let contracts = registrations.map { contract(for: $0) }
    if let present = running?.plugin(of: candidate, in: specs), present.registrations == registrations {
      worker?.close()
      registry.take(registrations.map(\.identifier), for: candidate.name)
      if present.isRepeatable { cache.note(candidate, registrations, as: identifier) }
      return .registered(
        RegisteredPlugin(
          candidate: candidate, registrations: registrations, contracts: contracts, changes: [], placement: present.placement,
          isRepeatable: present.isRepeatable, isKept: true))
    }
    if let bound = running?.bound(to: candidate, contracts.map(\.identifier)) {
      worker?.close()
      throw bound
    }
    let changes: [LaunchChange]
    let isRepeatable: Bool
    let placement: Placement
    if isForThread(registrations), isDry {
      worker?.close()
      (changes, isRepeatable, placement) = ([], true, .untried)
    } else if isForThread(registrations) {
      worker?.close()
      let plugin = try load(candidate, as: identifier, registering: registrations, loaded)
      (changes, isRepeatable) = (plugin.changes, !plugin.askedForRequests)
      do { try check(changes, of: contracts.map(\.identifier)) } catch { throw error.refusal(of: candidate.place) }
      placement = .thread(plugin)
    } else {
      if launch?.askedForRequests == true {
        worker?.close()
        (launch, worker) = try relaunch(candidate, as: identifier, registering: registrations)
      }
      (changes, isRepeatable) = (launch?.changes ?? [], launch?.askedForRequests != true)
      let settled: PluginWorker
      do { settled = try worker ?? self.worker(for: candidate, identifier, handlerLimit: registrations.count) } catch {
        throw Self.refusal(of: candidate, error)
      }
      do { try check(changes, of: contracts.map(\.identifier)) } catch {
        settled.close()
        throw error.refusal(of: candidate.place)
      }
      settled.adopt(registrations, contracts: contracts)
      placement = .process(settled)
    }
    registry.take(registrations.map(\.identifier), for: candidate.name)
    // Submissions and cancellations may depend on the time or on pending requests, so such a launch is repeated each time.
    let hasVerdict = changes.isEmpty && isRepeatable
    if hasVerdict { cache.note(candidate, registrations, as: identifier) }
    return .registered(
      RegisteredPlugin(
        candidate: candidate, registrations: registrations, contracts: contracts, changes: changes, placement: placement,
        isRepeatable: hasVerdict))
  }

  /// Relaunches a plugin that asked for its pending requests: now that it owns its identifiers, it gets them.
  private func relaunch(
    _ candidate: PluginCandidate, as identifier: TaskIdentifier, registering registrations: [HandlerRegistration]
  ) throws(PluginRefusal) -> (PluginWorker.Launch?, PluginWorker?) {
    switch probe(try withSummary(candidate), identifier, isProvisional: false, isOwner: true) {
    case .refused(let refused): throw refused.refusal
    // It was approved with more than this one identifier before it came here.
    case .held(let held):
      throw LaunchFailure(step: .notPermitted, observed: held.pending.problem.sentence).refusal(of: candidate.place)
    case .registers(registrations, let launch, let worker): return (launch, worker)
    case .registers(_, _, let worker):
      worker?.close()
      throw LaunchFailure(
        step: .registration, observed: "its registration was refused: it registered something else when it was told what is pending"
      ).refusal(of: candidate.place)
    }
  }

  /// Throws if it submitted or cancelled something not permitted. The worker refused such calls one by one, but its report is not trusted.
  private func check(_ changes: [LaunchChange], of plugin: [TaskIdentifier]) throws(LaunchFailure) {
    for change in changes {
      switch change {
      case .submit(let request): try registry.check(request, of: plugin)
      case .cancel(let identifiers):
        guard let other = identifiers.first(where: { !plugin.contains($0) }) else { continue }
        throw LaunchFailure(step: .status, observed: "while it launched it cancelled requests of \(other), which is not its own")
      }
    }
  }

  /// The worker has no process until it launches or gets a run.
  private func worker(
    for candidate: PluginCandidate, _ identifier: TaskIdentifier?, handlerLimit: Int, isProvisional: Bool = false, isOwner: Bool = false
  ) throws(HostFailure) -> PluginWorker {
    processes.worker(
      try specs.spec(for: candidate, handlerLimit: handlerLimit, identifier: identifier),
      policy: registry.policy(for: candidate.name, isProvisional: isProvisional, isOwner: isOwner))
  }

  private static func refusal(of candidate: PluginCandidate, _ error: any Error) -> PluginRefusal {
    PluginRefusal(
      code: .launchFailed, file: candidate.place, observed: (error as? HostFailure)?.message ?? "\(error)",
      remedy: "Correct that and launch again.")
  }

  private func load(
    _ candidate: PluginCandidate, as identifier: TaskIdentifier, registering registrations: [HandlerRegistration],
    _ loaded: Swift.Result<LaunchedPlugin, LaunchFailure>?
  ) throws(PluginRefusal) -> LaunchedPlugin {
    do throws(LaunchFailure) {
      let plugin =
        if let loaded {
          try loaded.get()
        } else {
          try PluginImage.launch(order(candidate, identifier, registrations), budget: configuration.launchBudget)
        }
      guard plugin.handlers.map(\.registered) == registrations else {
        throw LaunchFailure(
          step: .registration, observed: "its registration was refused: it registered something else in the host than in a worker before")
      }
      return plugin
    } catch { throw error.refusal(of: candidate.place) }
  }

  private func order(
    _ candidate: PluginCandidate, _ identifier: TaskIdentifier, _ registrations: [HandlerRegistration]
  ) -> LaunchOrder {
    LaunchOrder(
      path: candidate.copy, identifier: identifier, adoption: candidate.adoption, handlerLimit: registrations.count,
      policy: registry.policy(for: candidate.name, isProvisional: false, isOwner: true))
  }

  private func isForThread(_ registrations: [HandlerRegistration]) -> Bool {
    guard let first = registrations.first, configuration.plugin(first.identifier.rawValue).isolation == .thread else { return false }
    return !registrations.contains { mistrusted.contains($0.identifier) }
  }

  /// Loads into the host, as one batch, the plugins for threads that are certain to be registered: no other file wants their identifiers.
  ///
  /// - Returns: Outcomes by index in `prospects`.
  private func loadAhead(_ prospects: [(PluginCandidate?, Prospect)]) -> [Int: Swift.Result<LaunchedPlugin, LaunchFailure>] {
    var claims: [TaskIdentifier: Int] = [:]
    for case (_, .registers(let registrations, _, _)) in prospects {
      for registration in registrations { claims[registration.identifier, default: 0] += 1 }
    }
    var orders: [(place: Int, order: LaunchOrder)] = []
    for (place, prospect) in prospects.enumerated() {
      guard case (let candidate?, .registers(let registrations, _, _)) = prospect, let first = registrations.first,
        isForThread(registrations), !isDry, running?.plugin(of: candidate, in: specs) == nil,
        held(candidate, registrations.map(\.identifier)) == nil, running?.bound(to: candidate, registrations.map(\.identifier)) == nil
      else { continue }
      let isCertain = registrations.allSatisfy { registration in
        claims[registration.identifier] == 1 && candidate.signature.refusal(of: registration.identifier, file: candidate.place) == nil
          && (try? registry.check(registration.identifier, for: candidate.name, isProvisional: false)) != nil
      }
      if isCertain { orders.append((place, order(candidate, first.identifier, registrations))) }
    }
    guard !orders.isEmpty else { return [:] }
    let outcomes = PluginImage.launch(orders.map(\.order), budget: configuration.launchBudget)
    return Dictionary(uniqueKeysWithValues: zip(orders.map(\.place), outcomes))
  }

  /// The number of handlers that its file declares.
  private func handlerLimit(of candidate: PluginCandidate) -> Int { Int(min(candidate.elf?.handlerLimit ?? 1, 64)) }

  /// Reads the file's own declarations if that was skipped because the file is known.
  func withSummary(_ candidate: PluginCandidate) throws(PluginRefusal) -> PluginCandidate {
    guard candidate.elf == nil, let known = candidate.remembered else { return candidate }
    var candidate = candidate
    candidate.elf = try copies.reopen(known, policy: trust).file.elf
    return candidate
  }

  /// Applies the operator's limits. A plugin may shorten its kind's budget; only the configuration may lengthen it.
  private func contract(for registered: HandlerRegistration) -> HandlerContract {
    let settings = configuration.plugin(registered.identifier.rawValue)
    let shortest = [registered.kind.defaultBudget, registered.budget].compactMap { $0 }.min()
    return HandlerContract(
      identifier: registered.identifier, kind: registered.kind, budget: settings.budget ?? shortest,
      grace: settings.grace ?? registered.kind.defaultGrace,
      maxConcurrentRuns: min(registered.maxConcurrentRuns, settings.maxConcurrentRuns ?? .max), displayName: registered.displayName,
      version: registered.version, typed: registered.typed)
  }
}

extension PluginDirectoryScan.Entry {
  /// The file, if the scan opened it.
  fileprivate var listed: PluginFile? {
    if case .inspected(let file) = self { file } else { nil }
  }
}
