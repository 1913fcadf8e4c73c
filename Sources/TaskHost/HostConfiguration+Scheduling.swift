import Glibc
import HostConditions
import PluginTrust
import TaskModel
import TaskScheduler
import WorkerSandbox

extension HostConfiguration {
  func schedulingPolicy() -> SchedulingPolicy {
    var policy = SchedulingPolicy(
      maxConcurrentRuns: maxConcurrentRuns, maxPending: maxPending, minimumInterval: minimumInterval,
      retry: retry,
      permitted: permittedIdentifiers,
      historyAge: history.keep, historyCount: history.runs)
    // A request asks for a host with a label as it asks for a resource.
    policy.resources = resources.merging(fleet.labels.map { ($0, Limits.resourceTokens.upperBound) }) { own, _ in own }
    policy.rate = rateLimit
    policy.eventQuota = eventQuota
    for (name, window) in windows {
      // Reading the configuration checked it. If its time zone is missing now, the window stays shut, and "why" says so.
      policy.windows[name] = try? window.made()
    }
    for (identifier, plugin) in identifiedPlugins {
      var limits = plugin.scheduling
      if plugin.retry != PluginConfiguration.Retry() { limits.retry = retry.changed(by: plugin.retry) }
      if limits != PluginLimits() { policy.limits[identifier] = limits }
    }
    policy.fill(from: profile)
    policy.notices = NoticePolicy(host: hostName, rules: noticeRules)
    if !pings.isEmpty {
      policy.announced = Set(pings.keys)
      let identifiers = pings.keys.map(IdentifierPattern.init(_:))
      var rule = NoticeRule("ping", target: nil, kinds: [.failed], identifiers: identifiers)
      rule.isSilent = true
      policy.notices.rules.append(rule)
    }
    // No profile holds back what tells that something is wrong.
    for index in notify.indices where notify[index].task == nil {
      guard let target = noticeTarget(index) else { continue }
      policy.limits[target] = PluginLimits()
      policy.limits[target]?.retry = notify[index].retry
    }
    policy.idleStages = idleStages
    policy.traces = traceSampling
    // Longer than almost any commit, but too short to notice.
    policy.claimAhead = .milliseconds(20)
    return policy
  }

  /// The machine's name; empty if it has none that can be read.
  var hostName: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 257) { buffer in
      guard let start = buffer.baseAddress, gethostname(start, 256) == 0 else { return "" }
      buffer[256] = 0
      return String(cString: start).escapingControlCharacters
    }
  }

  /// How traces are made of requests that come without one; nil without `[traces]`.
  var traceSampling: TraceSampling? { traces.url == nil ? nil : TraceSampling(part: traces.sample) }

  /// Where monitors are told of the runs of identifiers.
  var pings: [TaskIdentifier: String] {
    identifiedPlugins.reduce(into: [:]) { pings, plugin in pings[plugin.0] = plugin.1.ping }
  }

  /// Whom the host sends something over the web, each with what tells there: notifications, pings and traces.
  public var receivers: [(subject: String, url: String)] {
    var receivers: [(subject: String, url: String)] = []
    for index in notify.indices { if let url = notify[index].url { receivers.append(("notify \(noticeName(index))", url)) } }
    for (identifier, url) in pings.sorted(by: { $0.key < $1.key }) { receivers.append(("ping of \(identifier)", url)) }
    if let url = traces.url { receivers.append(("traces", url)) }
    return receivers
  }

  private var identifiedPlugins: [(TaskIdentifier, PluginConfiguration)] {
    plugins.compactMap { name, plugin in (try? TaskIdentifier(name)).map { ($0, plugin) } }
  }

  var observedConditions: ConditionSettings {
    var settings = conditions
    settings.meteredInterfaces = Set(meteredInterfaces)
    return settings
  }

  /// The identifiers that each plugin may submit to besides its own.
  func maySubmit() -> [TaskIdentifier: [IdentifierPattern]] {
    var others = Dictionary(uniqueKeysWithValues: identifiedPlugins.map { ($0, $1.maySubmit) })
    // Its transfers' ends launch their handlers.
    others[.transfers, default: []] += transferring.map(IdentifierPattern.init(_:))
    return others
  }

  /// The identifiers of plugins that may transfer.
  var transferring: [TaskIdentifier] { identifiedPlugins.filter { $1.mayTransfer }.map(\.0).sorted() }

  /// The events that each plugin may raise besides those named after it.
  func mayNotify() -> [TaskIdentifier: [EventPattern]] {
    Dictionary(uniqueKeysWithValues: identifiedPlugins.map { ($0, $1.mayNotify) })
  }

  /// The requests of `schedule` lines and tables.
  func scheduledRequests() -> [ScheduleName: ScheduledRequest] {
    var requests: [ScheduleName: ScheduledRequest] = [:]
    for (identifier, plugin) in identifiedPlugins {
      guard let schedule = plugin.schedule else { continue }
      var request = ScheduledRequest(
        schedule, event: plugin.event,
        gates: RunConstraints(
          conditions: plugin.requires, onLostCondition: plugin.scheduling.onLostCondition ?? .stop, window: plugin.scheduling.window),
        jitter: plugin.jitter)
      (request.gates.wakes, request.gates.prefer) = (plugin.wakes, plugin.prefer)
      requests[ScheduleName(identifier)] = request
    }
    for (name, schedule) in schedules { requests[name] = schedule.request(plugin(name.identifier.rawValue), retry: retry) }
    return requests
  }

  /// Throws if this version cannot meet a demand of the operator: a host that ran anyway would be less safe than configured.
  func checkDemands() throws(HostFailure) {
    if let flaw = Self.flawOfLibcrypto { throw HostFailure(.configuration, flaw) }
    var demands: [String] = []
    if requireSandbox {
      demands += WorkerSandbox.support(landlockLimit: WorkerSpecs.landlockLimit).missing.map { "require_sandbox: \($0)" }
      demands += plugins.filter { $0.value.isolation == .thread && !isNotice($0.key) }.keys.sorted().map {
        "require_sandbox: plugin \($0) is configured for thread isolation, which has no sandbox: use isolation = \"process\""
      }
    }
    for (name, plugin) in plugins.sorted(by: { $0.key < $1.key }) {
      let confinement = Confinement(plugin: "", network: Confinement.Network(plugin.entitlements.network))
      demands += WorkerSandbox.rejections(to: confinement, landlockLimit: WorkerSpecs.landlockLimit).map { "plugin \(name): \($0)" }
    }
    guard !demands.isEmpty else { return }
    throw HostFailure(.configuration, demands.joined(separator: "\n"))
  }

  /// The trusted keys. Reads their files.
  func signaturePolicy() throws(HostFailure) -> SignaturePolicy {
    var keys: [PluginTrust.TrustedKey] = []
    var problems: [String] = []
    for entry in trustedKeys {
      do throws(SigningFileError) { keys.append(try PluginTrust.TrustedKey(reading: entry.file, identifiers: entry.identifiers)) } catch {
        problems.append("trusted_keys: \(error)")
      }
    }
    guard problems.isEmpty else { throw HostFailure(.configuration, problems.joined(separator: "\n")) }
    return SignaturePolicy(isRequired: requireSignatures, keys: keys)
  }

  /// Settings without effect, if these identifiers have handlers and no others.
  func problems(withHandlersFor identifiers: Set<String>) -> [Problem] {
    var problems: [Problem] = []
    for identifier in plugins.keys.filter({ !identifiers.contains($0) && commands[$0] == nil }).sorted() {
      problems.append(
        Problem(
          .configuration, of: identifier, "the configuration has a section for \(identifier), which no plugin registered",
          remedy: "install its plugin, or remove the section", needsAction: false))
    }
    for name in schedules.keys.filter({ !identifiers.contains($0.identifier.rawValue) }).sorted(by: { $0.description < $1.description }) {
      problems.append(
        Problem(
          .configuration, of: name.description,
          "the configuration has the schedule \(name), and no plugin registered \(name.identifier): it submits nothing",
          remedy: "install its plugin, correct the identifier, or remove the table", needsAction: false))
    }
    for task in Set(notify.compactMap(\.task)).subtracting(identifiers).sorted() {
      problems.append(
        Problem(
          .configuration, of: task, "[[notify]] tells by requests of \(task), which no plugin registered: nobody gets them",
          remedy: "install its plugin, add a [command.\"\(task)\"], or tell another way"))
    }
    return problems
  }
}

extension RetryPolicy {
  /// The policy with the overrides of a plugin's table.
  func changed(by plugin: PluginConfiguration.Retry) -> Self {
    var retry = self
    retry.attempts = plugin.attempts ?? attempts
    retry.backoff = plugin.backoff ?? backoff
    retry.initial = plugin.initial ?? initial
    retry.maximum = plugin.maximum ?? maximum
    return retry
  }
}

extension Host {
  /// Throws if a handler rejects what a schedule submits.
  static func check(
    _ schedules: [ScheduleName: ScheduledRequest], _ rejection: (_ payload: [UInt8], TaskIdentifier) -> String?
  ) throws(HostFailure) {
    let problems = schedules.sorted(by: { $0.key.description < $1.key.description }).compactMap { name, schedule -> String? in
      guard let rejection = rejection(schedule.payload, name.identifier) else { return nil }
      guard name.name == nil else { return "schedule \(name): the handler rejects its payload: \(rejection): change payload" }
      return
        "plugin \(name): schedule: what a schedule submits has no payload, and the handler needs one: \(rejection): make its arguments optional, or give it a [schedule.\"\(name)/NAME\"] with a payload"
    }
    guard problems.isEmpty else { throw HostFailure(.configuration, problems.joined(separator: "\n")) }
  }
}
