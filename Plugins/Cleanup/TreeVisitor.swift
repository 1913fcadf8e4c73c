protocol TreeVisitor {
  /// Called for each regular file, whether the rule covers it or not.
  mutating func seen()
  /// Called for each file that the rule covers. `name` is borrowed.
  mutating func visit(_ name: UnsafeRawBufferPointer, in directory: DirectoryNode, _ status: FileStatus) throws(SweepInterruption)
  /// Called when the walk has listed a directory to its end, and everything below it.
  mutating func leave(_ directory: DirectoryNode) throws(SweepInterruption)
  /// Called for each place that is left alone because another file system is mounted there.
  mutating func foundOtherFileSystem()
  /// Called if a directory, or a part of one, could not be searched. `path` is for people.
  mutating func couldNotSearch(_ path: String, _ reason: String)
  /// Called with the owner of a directory that could not be searched, and the error.
  mutating func wasRefused(_ error: SystemError, owner: UInt32)
}

extension TreeVisitor {
  mutating func seen() {}
  mutating func leave(_ directory: DirectoryNode) throws(SweepInterruption) {}
  mutating func foundOtherFileSystem() {}
  mutating func couldNotSearch(_ path: String, _ reason: String) {}
  mutating func wasRefused(_ error: SystemError, owner: UInt32) {}
}
