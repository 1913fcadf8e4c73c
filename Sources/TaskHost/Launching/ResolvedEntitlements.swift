import TaskModel
import WorkerProcesses

/// The paths of all plugins' entitlements, as they are when the host launches.
///
/// What would let a plugin reach more than it is entitled to is refused here: a path below one that a plugin may write, since that plugin
/// could put a link in its place, and a path with something of the host's own in it.
struct ResolvedEntitlements: Sendable {
  /// One path of one plugin.
  struct Claim: Sendable {
    let plugin: String
    let isWritable: Bool
    let configured: String
    let entitled: EntitledPath

    var key: String { isWritable ? "entitlements.write" : "entitlements.read" }
    var name: String { "plugin \(plugin): \(key): \(configured)" }

    /// The path, and where the links are that lead to it: who can replace one of them decides what the path stands for.
    var steps: [String] { entitled.links + [entitled.path] }
  }

  /// By plugin, in the order of the configuration.
  private let claims: [String: [Claim]]
  /// What the host and every worker rely on.
  let reserved: [ReservedPath]

  /// - Throws: Every conflict, a sentence each.
  init(_ configuration: HostConfiguration, stateDirectory: String, programs: [String]) throws(HostFailure) {
    var claims: [String: [Claim]] = [:]
    for (name, plugin) in configuration.plugins where plugin.isolation == .process {
      claims[name] =
        plugin.entitlements.read.map { Self.claim($0, of: name, isWritable: false) }
        + plugin.entitlements.write.map { Self.claim($0, of: name, isWritable: true) }
    }
    let places = HostPlace.all(configuration, stateDirectory: stateDirectory, programs: programs)
    let all = claims.sorted { $0.key < $1.key }.flatMap(\.value)
    let conflicts = EntitlementConflicts(claims: all, places: places, mounts: .current()).sentences
    guard conflicts.isEmpty else { throw HostFailure(.configuration, conflicts.joined(separator: "\n")) }
    self.claims = claims
    reserved = places.flatMap(\.reserved)
  }

  private static func claim(_ path: String, of plugin: String, isWritable: Bool) -> Claim {
    Claim(
      plugin: plugin, isWritable: isWritable, configured: path,
      entitled: EntitledPath(path, source: isWritable ? "entitlements.write" : "entitlements.read"))
  }

  /// What a plugin may read and write.
  func paths(of plugin: String) -> (read: [EntitledPath], write: [EntitledPath]) {
    let own = claims[plugin] ?? []
    return (own.filter { !$0.isWritable }.map(\.entitled), own.filter(\.isWritable).map(\.entitled))
  }
}
