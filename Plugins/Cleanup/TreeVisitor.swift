protocol TreeVisitor {
  /// A regular file was seen, whether the rule covers it or not.
  mutating func seen()
  /// A file that the rule covers. `name` is borrowed.
  mutating func visit(_ name: UnsafeRawBufferPointer, in directory: DirectoryNode, _ status: FileStatus) throws(SweepInterruption)
  /// A directory, listed to its end, and everything below it were seen.
  mutating func leave(_ directory: DirectoryNode) throws(SweepInterruption)
  /// A place left alone because another file system is mounted there.
  mutating func foundOtherFileSystem()
  /// A directory, or a part of one, could not be searched; `path` is for people.
  mutating func couldNotSearch(_ path: String, _ reason: String)
  /// The owner of a directory that could not be searched, and why.
  mutating func wasRefused(_ error: SystemError, owner: UInt32)
}

extension TreeVisitor {
  mutating func seen() {}
  mutating func leave(_ directory: DirectoryNode) throws(SweepInterruption) {}
  mutating func foundOtherFileSystem() {}
  mutating func couldNotSearch(_ path: String, _ reason: String) {}
  mutating func wasRefused(_ error: SystemError, owner: UInt32) {}
}
