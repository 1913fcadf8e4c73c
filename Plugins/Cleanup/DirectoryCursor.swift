internal import Glibc

/// Opens the directories of a rule in sequence.
///
/// Reaches each directory from the previous one if that is nearer than the rule's directory, so that a tree can be deep: down by name, up
/// by `..`. Every directory on the way must have the device and inode that the walk saw. Once a second, the cursor starts again at the
/// rule's directory, so that a directory that was moved out no longer counts as part of it.
final class DirectoryCursor {
  private let root: DirectoryHandle
  private var current: (node: DirectoryNode, handle: DirectoryHandle)?
  private var leftRoot = ContinuousClock.now

  private static let longestAway: Duration = .seconds(1)

  init(_ root: DirectoryHandle) { self.root = root }

  /// Closes the open directory. Otherwise the host would report it as in use by this process.
  func close() { current = nil }

  /// - Throws: ESTALE if another directory has replaced it; otherwise the error of opening it.
  func open(_ node: DirectoryNode) throws(SystemError) -> DirectoryHandle {
    guard node.parent != nil else { return root }
    if let current, leftRoot.duration(to: .now) <= Self.longestAway, let handle = try? near(node, current.node, current.handle) {
      self.current = (node, handle)
      return handle
    }
    let handle = try root.open(beneath: node.path)
    guard handle.status.identity == node.status.identity else { throw SystemError(code: ESTALE) }
    current = (node, handle)
    leftRoot = .now
    return handle
  }

  /// Opens the directory from a neighbour; nil if the rule's directory is just as near.
  private func near(_ node: DirectoryNode, _ start: DirectoryNode, _ open: DirectoryHandle) throws(SystemError) -> DirectoryHandle? {
    var (above, below): ([DirectoryNode], [DirectoryNode]) = ([], [])
    var (upper, lower) = (start, node)
    while upper !== lower {
      guard above.count + below.count < node.depth else { return nil }
      if upper.depth >= lower.depth, let parent = upper.parent {
        above.append(parent)
        upper = parent
      } else if let parent = lower.parent {
        below.append(lower)
        lower = parent
      } else {
        return nil
      }
    }
    var handle = open
    for node in above { handle = try root.open(above: handle, expecting: node.status) }
    for node in below.reversed() { handle = try root.open(node.name, in: handle, expecting: node.status) }
    return handle
  }
}
