enum RemovalVerdict: Sendable, Equatable {
  /// Removed, or in a dry run or rehearsal, removable. `names` is the number of its names.
  case removed(isLastName: Bool, names: UInt64)
  /// A process has it open, mapped or locked.
  case inUse
  case unknownUse
  /// It has changed since the scan: replaced, written to, or its directory moved. It stays.
  case changed
  case vanished
  /// Another file system was mounted over it.
  case otherFileSystem
  case failed(SystemError)
}
