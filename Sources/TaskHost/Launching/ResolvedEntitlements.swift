import TaskModel
import WorkerProcesses

/// The paths of all plugins' entitlements, resolved when the host launches.
///
/// Refuses entitlements that would let a plugin reach more: a path below one that a plugin may write, since that plugin could replace it
/// with a link, and a path that contains a place of the host.
struct ResolvedEntitlements: Sendable {
  struct Claim: Sendable {
    let plugin: String
    let isWritable: Bool
    let configured: String
    let entitled: EntitledPath

    var key: String { isWritable ? "entitlements.write" : "entitlements.read" }
    var name: String { "plugin \(plugin): \(key): \(configured)" }

    /// The path, and the locations of the links that lead to it: replacing one would change the meaning of the path.
    var steps: [String] { entitled.links + [entitled.path] }
  }

  /// By plugin, each in the order of the configuration.
  private let claims: [String: [Claim]]
  /// The places that the host and every worker rely on.
  let reserved: [ReservedPath]

  /// - Throws: All conflicts, one sentence each.
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

  func paths(of plugin: String) -> (read: [EntitledPath], write: [EntitledPath]) {
    let own = claims[plugin] ?? []
    return (own.filter { !$0.isWritable }.map(\.entitled), own.filter(\.isWritable).map(\.entitled))
  }
}
