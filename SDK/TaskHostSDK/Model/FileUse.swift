/// Whether any process has a file open: see ``TaskContext/openFiles(_:in:)``.
public enum FileUse: Sendable, Equatable {
  /// The host cannot tell.
  case unknown
  /// A process has it open or mapped, runs it, or uses it as its working directory.
  case open
  /// No process had it open when the host looked.
  case notOpen
}
