/// One directory on the way of a walk. It lives as long as the walk is in it, or something of it waits for its turn.
final class DirectoryNode {
  /// nil for the rule's own directory.
  let parent: DirectoryNode?
  /// Empty for the rule's own directory.
  let name: [UInt8]
  /// What it was when it was opened, before anything was removed from it.
  let status: FileStatus
  /// Entries of any kind that were seen in it.
  var entries = 0
  /// Those of them that are meant to go.
  var candidates = 0
  /// Those that went; in a dry run, that would have.
  var removed = 0

  init(_ name: [UInt8], in parent: DirectoryNode?, _ status: FileStatus) {
    self.name = name
    self.parent = parent
    self.status = status
  }

  /// The names that lead to it from the rule's directory.
  var path: [[UInt8]] {
    var path: [[UInt8]] = []
    var current = self
    while let parent = current.parent {
      path.append(current.name)
      current = parent
    }
    return path.reversed()
  }

  /// The path of an entry as the system reads it, relative to the rule's directory, without a null byte.
  func path(of name: some Sequence<UInt8>) -> [UInt8] {
    var bytes = Array(path.joined(separator: [UInt8(ascii: "/")]))
    if !bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
    bytes.append(contentsOf: name)
    return bytes
  }

  /// The path of an entry for people: control bytes and invalid UTF-8 escaped.
  func displayPath(of name: [UInt8]) -> String {
    (path + (name.isEmpty ? [] : [name])).map { DisplayName.escaped($0) }.joined(separator: "/")
  }
}
