/// What became of one file that had to go.
enum RemovalVerdict: Sendable, Equatable {
  case removed
  /// Somebody has it open, mapped or locked.
  case inUse
  /// Neither the kernel nor /proc can say whether it is open.
  case unknownUse
  /// No longer what the scan saw: replaced, written to, or its directory moved. Left alone.
  case changed
  /// Gone already.
  case vanished
  /// Another file system was mounted over it.
  case otherFileSystem
  /// The system refused.
  case failed(SystemError)
}
