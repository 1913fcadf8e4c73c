/// A kernel watch and the paths that need it. Each object has one watch.
struct WatchNode: Sendable {
  /// The object's location when it was last watched.
  var location: String
  /// The events that the kernel reports now.
  var mask: UInt32
  private var roles: [String: Set<WatchRole>] = [:]
  /// The number of roles for each mask.
  private var masks: [UInt32: Int] = [:]
  /// The paths that continue with a name.
  private var holders: [String: Set<String>] = [:]
  /// The paths that lead to this directory.
  private var targets: Set<String> = []

  init(location: String) {
    self.location = location
    mask = 0
  }

  var isLoose: Bool { roles.isEmpty }

  /// The events to request from the kernel.
  var wanted: UInt32 { masks.keys.reduce(0) { $0 | $1 } }

  mutating func set(_ roles: Set<WatchRole>, for path: String) {
    remove(path)
    self.roles[path] = roles
    for role in roles {
      masks[role.mask, default: 0] += 1
      switch role {
      case .holder(let name, _): holders[name, default: []].insert(path)
      case .directory: targets.insert(path)
      case .passage, .object, .file: break
      }
    }
  }

  mutating func remove(_ path: String) {
    for role in roles.removeValue(forKey: path) ?? [] {
      let left = (masks[role.mask] ?? 0) - 1
      masks[role.mask] = left > 0 ? left : nil
      if case .holder(let name, _) = role {
        holders[name]?.remove(path)
        if holders[name]?.isEmpty == true { holders[name] = nil }
      }
    }
    targets.remove(path)
  }

  func effects(of event: FileEvent) -> [(path: String, effect: WatchRole.Effect)] {
    // An event of one entry concerns few of the paths through a directory.
    let paths = event.name.map { targets.union(holders[$0] ?? []) } ?? Set(roles.keys)
    return paths.map { path in (path, (roles[path] ?? []).reduce([]) { $0.union($1.effect(of: event)) }) }
  }
}
