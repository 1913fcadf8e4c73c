import TaskModel

extension KnownPluginFile {
  /// The last component of the path.
  var name: String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
  }
}
