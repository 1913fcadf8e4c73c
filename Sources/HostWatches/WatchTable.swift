import Glibc

/// The watched objects and the paths that need them. Not thread-safe: its owner must guard it.
struct WatchTable: Sendable {
  private struct Entry: Sendable {
    var watches: Set<Int32> = []
    var target = WatchTarget.missing
    var problem: String?
  }

  /// The queue of events; nil once it is closed.
  private var queue: Int32?
  private var nodes: [Int32: WatchNode] = [:]
  private var entries: [String: Entry] = [:]

  /// How often to follow a path that keeps changing; events report later changes.
  private static let mostTries = 10

  /// Takes ownership of an inotify queue.
  init(queue: Int32) { self.queue = queue }

  /// Closes the queue, which ends all watches.
  mutating func end() {
    if let queue { close(queue) }
    queue = nil
    nodes = [:]
    for path in entries.keys { entries[path] = Entry(problem: Self.ended) }
  }

  var problems: [String: String] { entries.compactMapValues(\.problem) }

  mutating func watch(_ paths: Set<String>) {
    var loose: Set<Int32> = []
    for path in entries.keys where !paths.contains(path) {
      loose.formUnion(entries[path]?.watches ?? [])
      release(path)
      entries[path] = nil
    }
    // Release these first, because the number of watches is limited.
    tidy(loose)
    let new = paths.filter { path in entries[path].map { $0.problem != nil } ?? true }
    for path in new where entries[path] == nil { entries[path] = Entry() }
    tidy(follow(new))
  }

  /// Returns the changed paths.
  mutating func take(_ events: [FileEvent]) -> Set<String> {
    var changed: Set<String> = []
    var stale: Set<String> = []
    for event in events {
      if event.isOverflow {
        changed = Set(entries.keys)
        stale = changed
      }
      for (path, effect) in nodes[event.watch]?.effects(of: event) ?? [] {
        if effect.contains(.isChanged) { changed.insert(path) }
        if effect.contains(.isStale) { stale.insert(path) }
      }
      if event.isEnd { nodes[event.watch] = nil }
    }
    let known = stale.map { (path: $0, before: entries[$0]) }
    let loose = follow(stale)
    for (path, before) in known {
      if let after = entries[path], after.target != before?.target || after.problem != before?.problem { changed.insert(path) }
    }
    tidy(loose)
    return changed
  }

  /// Follows paths and watches their objects until both agree; returns watches that may no longer be needed. Releases no watch before its
  /// replacement exists.
  private mutating func follow(_ paths: Set<String>) -> Set<Int32> {
    var loose: Set<Int32> = []
    var left: [String] = []
    for path in paths {
      if let problem = Self.refusal(path) ?? (queue == nil ? Self.ended : nil) {
        entries[path] = Entry(problem: problem)
      } else {
        loose.formUnion(entries[path]?.watches ?? [])
        left.append(path)
      }
    }
    for attempt in 1...Self.mostTries where !left.isEmpty {
      var (before, after) = (FileGlance(), FileGlance())
      var added: [String: Int32] = [:]
      let followed = left.map { path in
        let trail = PathTrail(path, by: &before)
        return (path: path, trail: trail, watched: watch(trail, &added))
      }
      left = []
      for (path, trail, watched) in followed {
        loose.formUnion(watched.roles.keys)
        guard attempt == Self.mostTries || !watched.isGone && PathTrail(path, by: &after) == trail else {
          left.append(path)
          continue
        }
        release(path)
        for (watch, roles) in watched.roles { nodes[watch]?.set(roles, for: path) }
        entries[path] = Entry(watches: Set(watched.roles.keys), target: trail.target, problem: watched.problem)
      }
    }
    return loose
  }

  /// Requests watches for a trail; `isGone` if a part of it has disappeared.
  ///
  /// - Parameter added: The watches requested since the file system was looked at, by location.
  private mutating func watch(
    _ trail: PathTrail, _ added: inout [String: Int32]
  ) -> (roles: [Int32: Set<WatchRole>], problem: String?, isGone: Bool) {
    var roles: [Int32: Set<WatchRole>] = [:]
    var problem = trail.problem
    for step in trail.steps {
      if let watch = added[step.location], let mask = nodes[watch]?.mask, mask & step.role.mask == step.role.mask {
        roles[watch, default: []].insert(step.role)
        continue
      }
      let watch = add(step.location, step.role.mask | UInt32(IN_MASK_ADD))
      guard watch >= 0 else {
        if errno == ENOENT || errno == ENOTDIR { return (roles, problem, true) }
        if step.isNeeded || errno != EACCES { problem = problem ?? Self.sentence(errno, step.location) }
        continue
      }
      added[step.location] = watch
      nodes[watch, default: WatchNode(location: step.location)].mask |= step.role.mask
      nodes[watch]?.location = step.location
      roles[watch, default: []].insert(step.role)
    }
    return (roles, problem, false)
  }

  private mutating func release(_ path: String) {
    for watch in entries[path]?.watches ?? [] { nodes[watch]?.remove(path) }
  }

  /// Releases unneeded watches, and narrows the others to the needed events.
  private mutating func tidy(_ watches: Set<Int32>) {
    guard let queue else { return }
    for watch in watches {
      guard let node = nodes[watch] else { continue }
      guard !node.isLoose else {
        inotify_rm_watch(queue, watch)
        nodes[watch] = nil
        continue
      }
      let wanted = node.wanted
      guard wanted != node.mask else { continue }
      let narrowed = add(node.location, wanted)
      if narrowed == watch {
        nodes[watch]?.mask = wanted
      } else if narrowed >= 0 {
        // Another object has this location now, and an event will report it; keep its old mask.
        if let other = nodes[narrowed] {
          nodes[narrowed]?.mask |= wanted
          _ = add(node.location, other.mask | UInt32(IN_MASK_ADD))
        } else {
          inotify_rm_watch(queue, narrowed)
        }
      }
    }
  }

  private func add(_ location: String, _ mask: UInt32) -> Int32 {
    guard let queue else { return -1 }
    return inotify_add_watch(queue, location, mask | UInt32(IN_DONT_FOLLOW) | UInt32(IN_EXCL_UNLINK))
  }

  private static let ended = "nothing is watched any more: the watches were stopped"

  private static func refusal(_ path: String) -> String? {
    guard path.hasPrefix("/") else { return "it is not an absolute path: begin it with /" }
    guard !path.utf8.contains(0) else { return "it contains a zero byte" }
    guard path.utf8.count < Int(PATH_MAX) else { return "it is longer than \(PATH_MAX - 1) bytes" }
    return nil
  }

  private static func sentence(_ code: Int32, _ location: String) -> String {
    switch code {
    case ENOSPC: "\(location): the limit of watches is reached; raise fs.inotify.max_user_watches (sysctl)"
    case EACCES: "\(location): it may not be read, so it cannot be watched; let the host's user read it"
    case ENOMEM: "\(location): the kernel has no memory for another watch"
    default: "\(location): it cannot be watched: \(String(cString: strerror(code)))"
    }
  }
}
