internal import Glibc

/// Walks through a rule's directory, deepest first, and shows a visitor the files that the rule covers.
///
/// Memory use grows neither with the number of files nor with that of directories: the walk handles entries while it lists a directory,
/// and keeps ``namesHeld`` of its directories at a time. Up to ``levelsOpen`` directories and the deepest one are open at once. The walk
/// lists deeper directories to their end first, and reaches them again from the one below, so the time per directory does not grow with
/// the depth.
struct TreeWalk {
  private let rule: Rule
  private let root: DirectoryHandle
  private let isCancelled: () -> Bool
  private var levels: [Level] = []
  private var heldBytes = 0

  private static let levelsOpen = 40
  private static let namesHeld = 1_000
  /// The limit for all directories together.
  private static let mostHeldBytes = 32 << 20

  /// A directory yet to be listed.
  private struct Waiting {
    var name: [UInt8]
    var position: Glob.Position
    var excluded: [Glob.Position]
  }

  private struct Level {
    let node: DirectoryNode
    /// nil deep down, once the walk has moved on to a directory below.
    var listing: DirectoryListing?
    /// The same directory, reached again from the one below.
    var place: DirectoryHandle?
    var open: (any OpenDirectory)? { listing ?? place }
    let position: Glob.Position
    let excluded: [Glob.Position]
    var waiting: [Waiting] = []
    var isListed = false
  }

  /// - Parameter isCancelled: Called once per directory and once per 1024 entries.
  init(_ rule: Rule, root: DirectoryHandle, isCancelled: @escaping () -> Bool) {
    self.rule = rule
    self.root = root
    self.isCancelled = isCancelled
  }

  /// Shows everything to `visitor`.
  ///
  /// - Throws: The visitor's errors; `stopped` if cancelled; `blocked` if the rule's own directory cannot be listed.
  mutating func run(_ visitor: inout some TreeVisitor) throws(SweepInterruption) {
    do throws(SystemError) {
      let listing = try root.list([], from: root)
      levels = [
        Level(
          node: DirectoryNode([], in: nil, listing.status), listing: listing, position: rule.glob.start,
          excluded: rule.exclude.map(\.start))
      ]
    } catch { throw .blocked("cannot search \(rule.directory): \(error)") }
    while let last = levels.indices.last {
      if isCancelled() { throw .stopped }
      if let next = levels[last].waiting.popLast() {
        heldBytes -= next.name.count
        enter(next, &visitor)
      } else if !levels[last].isListed {
        try list(last, &visitor)
      } else {
        // Close it first: the visitor may ask whether any process has it open.
        try visitor.leave(goUp())
      }
    }
  }

  private mutating func enter(_ next: Waiting, _ visitor: inout some TreeVisitor) {
    guard let parent = levels.last else { return }
    do throws(SystemError) {
      let listing =
        if let open = parent.open {
          try root.list([next.name], from: open)
        } else {
          try root.list(parent.node.path + [next.name], from: root)
        }
      let node = DirectoryNode(next.name, in: parent.node, listing.status)
      if levels.count > Self.levelsOpen {
        levels[levels.count - 1].listing = nil
        levels[levels.count - 1].place = nil
      }
      levels.append(Level(node: node, listing: listing, position: next.position, excluded: next.excluded))
    } catch {
      switch error.code {
      case EXDEV: visitor.foundOtherFileSystem()
      case ENOENT, ELOOP, ENOTDIR: break  // removed or replaced since its name was read
      default:
        visitor.couldNotSearch(parent.node.displayPath(of: next.name), "\(error)")
        if let owner = owner(of: next.name, in: parent) { visitor.wasRefused(error, owner: owner) }
      }
    }
  }

  private func owner(of name: [UInt8], in level: Level) -> UInt32? {
    let name = name.map { CChar(bitPattern: $0) } + [0]
    return name.withUnsafeBufferPointer { name in
      guard let name = name.baseAddress else { return nil }
      return (try? level.open?.status(of: name))?.owner
    }
  }

  /// Leaves the last directory, and reopens the one above unless it is open. If that fails, the directories waiting in it are reached from
  /// the rule's directory.
  private mutating func goUp() -> DirectoryNode {
    let left = levels.removeLast()
    if let last = levels.indices.last, levels[last].listing == nil {
      if let open = left.open { levels[last].place = try? root.open(above: open, expecting: levels[last].node.status) }
    }
    return left.node
  }

  /// Continues listing until the end, or until enough directories are waiting.
  private mutating func list(_ index: Int, _ visitor: inout some TreeVisitor) throws(SweepInterruption) {
    guard let listing = levels[index].listing else { return levels[index].isListed = true }
    let isDeep = index >= Self.levelsOpen
    let node = levels[index].node
    while isDeep || levels[index].waiting.count < Self.namesHeld {
      let found: DirectoryListing.Entry?
      do throws(SystemError) { found = try listing.next() } catch {
        if index == 0 { throw .blocked("cannot search \(rule.directory): \(error)") }
        visitor.couldNotSearch(node.displayPath(of: []), "\(error)")
        // The rest is unknown, so the directory does not count as empty.
        node.entries += 1
        found = nil
      }
      guard let entry = found else {
        levels[index].isListed = true
        break
      }
      node.entries += 1
      if node.entries & 1023 == 0, isCancelled() { throw .stopped }
      try examine(entry, index, listing, node, &visitor)
    }
  }

  private mutating func examine(
    _ entry: DirectoryListing.Entry, _ index: Int, _ listing: DirectoryListing, _ node: DirectoryNode, _ visitor: inout some TreeVisitor
  ) throws(SweepInterruption) {
    var kind: FileStatus.Kind
    var status: FileStatus?
    switch entry.type {
    case Int32(DT_REG): kind = .regular
    case Int32(DT_DIR): kind = .directory
    case Int32(DT_UNKNOWN):
      status = try? listing.status(of: entry.name)
      kind = status?.kind ?? .other
    default: kind = .other
    }
    guard kind != .other else { return }
    if kind == .regular { visitor.seen() }
    let position = rule.glob.advance(levels[index].position, entry.bytes)
    guard kind == .directory ? rule.recursive && rule.glob.canMatchBelow(position) : rule.glob.accepts(position) else { return }
    var excluded: [Glob.Position] = []
    if !rule.exclude.isEmpty {
      excluded = zip(rule.exclude, levels[index].excluded).map { $0.advance($1, entry.bytes) }
      guard !zip(rule.exclude, excluded).contains(where: { $0.accepts($1) }) else { return }
    }
    if kind == .directory {
      guard heldBytes + entry.length <= Self.mostHeldBytes else {
        return visitor.couldNotSearch(node.displayPath(of: Array(entry.bytes)), "too many directories to search; left for a later run")
      }
      heldBytes += entry.length
      levels[index].waiting.append(Waiting(name: Array(entry.bytes), position: position, excluded: excluded))
    } else {
      // It may be gone by now.
      guard let status = status ?? (try? listing.status(of: entry.name)), status.kind == .regular else { return }
      guard status.isOnSameMount(as: root.status) else { return visitor.foundOtherFileSystem() }
      try visitor.visit(entry.bytes, in: node, status)
    }
  }
}
