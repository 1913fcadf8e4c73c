/// The result for one file to remove.
enum RemovalVerdict: Sendable, Equatable {
  /// Removed, or in a dry run or rehearsal, removable. `names` is the number of its names.
  case removed(isLastName: Bool, names: UInt64)
  /// A process has it open, mapped or locked.
  case inUse
  /// It is unknown whether it is open.
  case unknownUse
  /// It has changed since the scan: replaced, written to, or its directory moved. It stays.
  case changed
  /// It is already gone.
  case vanished
  /// Another file system was mounted over it.
  case otherFileSystem
  /// The system refused.
  case failed(SystemError)
}
