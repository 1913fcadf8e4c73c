/// Whether somebody has a file open: see ``TaskContext/openFiles(_:in:)``.
public enum FileUse: Sendable, Equatable {
  /// The host cannot tell.
  case unknown
  /// A process has it open or mapped, runs it, or is in it.
  case open
  /// Nobody had it open when the host looked.
  case notOpen
}
