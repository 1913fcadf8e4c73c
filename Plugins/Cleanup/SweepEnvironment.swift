internal import Logging
internal import TaskHostSDK

/// A sweep's environment: a run provides the host's, a test its own. Everything except ``openFiles`` is called on the sweep's thread.
struct SweepEnvironment {
  /// Nanoseconds since 1970, by the host's clock.
  var now: Int64
  /// Whether to stop now. Called before each file.
  var isCancelled: () -> Bool
  /// Whether the run's whole budget is spent. Called after a stop.
  var isBudgetSpent: () -> Bool = { false }
  /// Writes the checkpoint durably; an error ends the sweep.
  var saveCheckpoint: (CleanupCheckpoint) throws -> Void
  /// Reports the number of handled files, and the total as far as it is known.
  var progress: (UInt64, UInt64) -> Void
  var log: (Logger.Level, String) -> Void
  /// Asks which files below a rule's directory are open: one answer per file. Without an answer, the kernel's leases decide.
  /// Called on the sweep's thread, and for a large tree concurrently on another thread.
  var openFiles: (String, [FileReference]) -> [FileUse] = { _, _ in [] }
  /// Directories that no rule may clean up, under any name.
  var protected = ProtectedDirectories.current()
  /// nil selects the best that the kernel supports.
  var resolution: PathResolution?
  /// The minimum interval between checkpoints: each is a synced write, and losing one only costs time.
  var checkpointInterval: Duration = .seconds(1)
  /// The capacity of a survey in files.
  var surveyCapacity = 1_000_000
  /// Called at points where another process might interfere, with the file's path; for tests that force an interleaving.
  var interleave: ((SweepPoint, String) -> Void)?
}

enum SweepInterruption: Error {
  case stopped
  case missing
  /// The rule cannot run at all, for this reason.
  case blocked(String)
}

/// A point at which a test can interfere with a sweep.
enum SweepPoint: Sendable, Equatable {
  /// A file was chosen and not yet checked again.
  case chosen
  /// The file was checked and claimed; the last check and the removal follow.
  case claimed
}
