import Glibc
import StrictText
import TaskModel
import WorkerProcesses

/// What the code of a plugin may do, in a form that can be compared and kept.
struct PluginPermissions: Sendable, Hashable {
  /// The identifiers that it serves, sorted.
  var identifiers: [TaskIdentifier] = []
  /// Whether it runs inside the host and may do whatever the host may. The rest then says nothing.
  var isOfHost = false
  /// The user as whom a command without a sandbox runs; nil for everything else. The rest but its variables then says nothing.
  var user: String?
  var read: [String] = []
  var write: [String] = []
  var network = Network.none
  var exec = false
  /// In bytes.
  var memory: Int64 = 0
  var processes: Int64 = 0
  var descriptors: Int64 = 0
  /// The limit in percent of one processor; nil for no limit.
  var processorQuota: Int64? = 0
  var processorShare: Int64 = 0
  /// Names of variables.
  var environment: [String] = []
  var maySubmit: [IdentifierPattern] = []
  var mayNotify: [EventPattern] = []
  var mayTransfer = false
  var mayWake = false

  enum Network: Sendable, Hashable {
    case none
    /// TCP ports, sorted.
    case ports([Int])
    case everything
  }

  /// The share of a worker without one.
  private static let usualShare: Int64 = 100

  init() {}

  /// What one table gives.
  init(_ table: PluginConfiguration) {
    isOfHost = table.isolation == .thread
    (read, write, exec) = (table.entitlements.read, table.entitlements.write, table.entitlements.exec)
    network =
      switch table.entitlements.network {
      case .none: .none
      case .ports(let ports): .ports(ports)
      case .connect: .everything
      }
    (memory, processes) = (Int64(table.limits.memory), Int64(table.limits.processes))
    processorQuota = table.limits.processor.quota.map { Int64($0) }
    processorShare = table.limits.processor.share.map { Int64($0) } ?? Self.usualShare
    (descriptors, environment) = (Int64(table.limits.descriptors), table.environment)
    (maySubmit, mayNotify, mayTransfer, mayWake) = (table.maySubmit, table.mayNotify, table.mayTransfer, table.mayWake)
  }

  /// What the plugin that serves these identifiers gets of a configuration. Whatever one of the tables gives counts, because a plugin chooses
  /// which of its identifiers comes first.
  init(of identifiers: [TaskIdentifier], in configuration: HostConfiguration) {
    for identifier in identifiers {
      var one = PluginPermissions(configuration.plugin(identifier.rawValue))
      if one.isOfHost, let command = configuration.commands[identifier.rawValue] { one.run(as: command.user) }
      add(one)
    }
    self.identifiers = Set(identifiers).sorted()
  }

  /// What a plugin may do for which the configuration has no table.
  static func withoutTable(_ identifiers: [TaskIdentifier]) -> Self {
    var permissions = PluginPermissions(PluginConfiguration())
    permissions.identifiers = Set(identifiers).sorted()
    return permissions
  }

  /// Makes it that of a command without a sandbox, whose `user` the configuration may name.
  private mutating func run(as name: String?) {
    let own = geteuid() == 0 ? "root" : nil
    user = name ?? own ?? "the host's user"
    isOfHost = name == nil || name == own
  }

  private mutating func add(_ other: Self) {
    func union<Element: Hashable>(_ left: [Element], _ right: [Element]) -> [Element] { left + right.filter { !left.contains($0) } }
    isOfHost = isOfHost || other.isOfHost
    user = user ?? other.user
    (read, write, environment) = (union(read, other.read), union(write, other.write), union(environment, other.environment))
    network =
      switch (network, other.network) {
      case (.everything, _), (_, .everything): .everything
      case (.none, let network), (let network, .none): network
      case (.ports(let ports), .ports(let others)): .ports(union(ports, others))
      }
    exec = exec || other.exec
    memory = max(memory, other.memory)
    processes = max(processes, other.processes)
    descriptors = max(descriptors, other.descriptors)
    processorQuota = processorQuota.flatMap { quota in other.processorQuota.map { max(quota, $0) } }
    processorShare = max(processorShare, other.processorShare)
    (maySubmit, mayNotify) = (union(maySubmit, other.maySubmit), union(mayNotify, other.mayNotify))
    mayTransfer = mayTransfer || other.mayTransfer
    mayWake = mayWake || other.mayWake
  }

  // MARK: Comparing

  /// What it may do beyond `approved`, a sentence without a full stop each; empty if that covers it.
  func gained(over approved: Self) -> [String] {
    var sentences: [String] = []
    let new = identifiers.filter { !approved.identifiers.contains($0) }
    if !new.isEmpty { sentences.append("it also serves \(Self.list(new.map(\.rawValue)))") }
    guard !approved.isOfHost else { return sentences + (user != nil && approved.user != nil ? gainedOfHost(over: approved) : []) }
    if let unconfined {
      guard user == nil || user != approved.user else { return sentences + gainedOfHost(over: approved) }
      let known = user.flatMap { user in approved.user.map { "it runs as \(user) instead of \($0)" } }
      return sentences + [known ?? unconfined] + (isOfHost && user == nil ? [] : gainedOfHost(over: approved))
    }
    sentences += Self.sentences(
      read: read.filter { path in !(approved.read + approved.write).contains { Self.path($0, covers: path) } },
      write: write.filter { path in !approved.write.contains { Self.path($0, covers: path) } })
    if let added = network.beyond(approved.network) { sentences.append(added.sentence) }
    if exec, !approved.exec { sentences.append(Self.mayExec) }
    if memory > approved.memory { sentences.append("it has up to \(ByteCountFormat.text(memory)) of memory") }
    if processes > approved.processes { sentences.append("it has up to \(processes) processes and threads") }
    if descriptors > approved.descriptors { sentences.append("it has up to \(descriptors) descriptors") }
    if let quota = approved.processorQuota, processorQuota.map({ $0 > quota }) ?? true {
      sentences.append(processorQuota.map(Self.quota) ?? "it may use all processors")
    }
    if processorShare > approved.processorShare { sentences.append(Self.share(processorShare)) }
    return sentences + gainedOfHost(over: approved)
  }

  /// The same of what the host gives and does for it.
  private func gainedOfHost(over approved: Self) -> [String] {
    Self.sentences(
      environment: environment.filter { !approved.environment.contains($0) },
      maySubmit: maySubmit.filter { pattern in !approved.maySubmit.contains { $0.covers(pattern) } },
      mayNotify: mayNotify.filter { pattern in !approved.mayNotify.contains { $0.covers(pattern) } },
      mayTransfer: mayTransfer && !approved.mayTransfer, mayWake: mayWake && !approved.mayWake)
  }

  /// What it could do before and may not now, as ``gained(over:)`` says it.
  func lost(since before: Self) -> [String] {
    guard user != nil, before.user != nil, user != before.user else { return before.gained(over: self) }
    // What is gained says the new user instead of the old one.
    let unconfined = before.isOfHost ? before.unconfined : nil
    return [unconfined].compactMap(\.self) + before.gainedOfHost(over: self)
  }

  /// Whether whoever may use `place` may use `path`. A path with `..` is only covered by itself.
  private static func path(_ place: String, covers path: String) -> Bool {
    if place == path { return true }
    guard !path.parts(between: "/").contains("..") else { return false }
    return path.hasPrefix(place.hasSuffix("/") ? place : place + "/")
  }

  // MARK: Sentences

  /// All that it may do, and of the network and of programs also what not.
  var sentences: [String] {
    var sentences: [String] = []
    if let unconfined {
      sentences.append(unconfined)
    } else {
      sentences += Self.sentences(read: read, write: write) + [network.sentence, exec ? Self.mayExec : "it may not start programs"]
      sentences.append(
        "it has at most \(ByteCountFormat.text(memory)) of memory, \(processes) processes and threads, and \(descriptors) descriptors")
      if let quota = processorQuota { sentences.append(Self.quota(quota)) }
      if processorShare != Self.usualShare { sentences.append(Self.share(processorShare)) }
    }
    if identifiers.count > 1 { sentences.append("it serves \(Self.list(identifiers.map(\.rawValue)))") }
    return sentences
      + Self.sentences(
        environment: environment, maySubmit: maySubmit, mayNotify: mayNotify, mayTransfer: mayTransfer, mayWake: mayWake)
  }

  /// What it may do without a sandbox; nil if it has one.
  private var unconfined: String? {
    guard let user else { return isOfHost ? Self.ofHost : nil }
    return "it runs as \(user) and may do whatever \(isOfHost ? "the host" : "that user") may"
  }

  private static let ofHost = "it runs inside the host and may do whatever the host may"
  private static func quota(_ percent: Int64) -> String { "it may use \(percent)% of a processor at most" }
  private static func share(_ share: Int64) -> String { "its share of busy processors is \(share), where others have \(usualShare)" }
  private static let mayExec = "it may start programs"

  private static func sentences(read: [String], write: [String]) -> [String] {
    [
      read.isEmpty ? nil : "it may read \(list(read))",
      write.isEmpty ? nil : "it may read and write \(list(write))",
    ].compactMap(\.self)
  }

  private static func sentences(
    environment: [String], maySubmit: [IdentifierPattern], mayNotify: [EventPattern], mayTransfer: Bool, mayWake: Bool
  ) -> [String] {
    [
      environment.isEmpty ? nil : "it gets the environment variables \(list(environment))",
      maySubmit.isEmpty ? nil : "it may submit requests to \(list(maySubmit.map(\.text)))",
      mayNotify.isEmpty ? nil : "it may raise the events \(list(mayNotify.map(\.text)))",
      mayTransfer ? "it may have files transferred" : nil,
      mayWake ? "its requests may wake the machine" : nil,
    ].compactMap(\.self)
  }

  private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}

extension PluginPermissions.Network {
  /// What of it another one does not cover; nil if nothing.
  fileprivate func beyond(_ other: Self) -> Self? {
    switch (self, other) {
    case (.none, _), (_, .everything): return nil
    case (.everything, _), (.ports, .none): return self
    case (.ports(let ports), .ports(let others)):
      let new = ports.filter { !others.contains($0) }
      return new.isEmpty ? nil : .ports(new)
    }
  }

  fileprivate var sentence: String {
    switch self {
    case .none: "it may not use the network"
    case .everything: "it may connect to any address and port"
    case .ports(let ports): "it may connect to the ports \(ports.map(String.init).joined(separator: ", "))"
    }
  }
}
