/// A watch of the kernel, and the paths it is for: one for each object, whatever it is watched for.
struct WatchNode: Sendable {
  /// Where the object was when it was last watched for something.
  var location: String
  /// What the kernel tells of it now.
  var mask: UInt32
  private var roles: [String: Set<WatchRole>] = [:]
  /// How many roles ask for what.
  private var masks: [UInt32: Int] = [:]
  /// The paths that go on with a name.
  private var holders: [String: Set<String>] = [:]
  /// The paths that lead to this directory.
  private var targets: Set<String> = []

  init(location: String) {
    self.location = location
    mask = 0
  }

  /// Whether no path needs it.
  var isLoose: Bool { roles.isEmpty }

  /// What the kernel should tell.
  var wanted: UInt32 { masks.keys.reduce(0) { $0 | $1 } }

  /// Needed for `path` from now on, in these roles and no others.
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

  /// Not needed for `path` any more.
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

  /// What an event of it means for which paths.
  func effects(of event: FileEvent) -> [(path: String, effect: WatchRole.Effect)] {
    // What is about an entry matters to few of those whose way goes through a directory.
    let paths = event.name.map { targets.union(holders[$0] ?? []) } ?? Set(roles.keys)
    return paths.map { path in (path, (roles[path] ?? []).reduce([]) { $0.union($1.effect(of: event)) }) }
  }
}
