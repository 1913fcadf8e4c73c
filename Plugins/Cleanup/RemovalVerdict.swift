/// What became of one file that had to go.
enum RemovalVerdict: Sendable, Equatable {
  /// Removed; in a dry run and a rehearsal, it would be. `names` is how many it had.
  case removed(isLastName: Bool, names: UInt64)
  /// Somebody has it open, mapped or locked.
  case inUse
  /// Nobody can say whether it is open.
  case unknownUse
  /// No longer what was seen: replaced, written to, or its directory moved. Left alone.
  case changed
  /// Gone already.
  case vanished
  /// Another file system was mounted over it.
  case otherFileSystem
  /// The system refused.
  case failed(SystemError)
}
