internal import Logging
internal import TaskHostSDK

/// What a sweep needs of the world around it; the run gives the host's, tests give their own. All but ``openFiles`` is called on the
/// sweep's thread.
struct SweepEnvironment {
  /// Nanoseconds since 1970, by the host's clock.
  var now: Int64
  /// Whether to stop now. Asked before each file.
  var isCancelled: () -> Bool
  /// Whether that is because the run's whole time is over. Asked once it was stopped.
  var isBudgetSpent: () -> Bool = { false }
  /// Keeps the checkpoint durably; what it throws ends the sweep.
  var saveCheckpoint: (CleanupCheckpoint) throws -> Void
  /// How many files were dealt with, of how many as far as is known yet.
  var progress: (UInt64, UInt64) -> Void
  var log: (Logger.Level, String) -> Void
  /// Which of these, below a rule's directory, are open; an answer for each. Where there is none, the kernel's leases have to tell. Called
  /// on the sweep's thread, and for a tree of many files on another at the same time.
  var openFiles: (String, [OpenFileQuestion]) -> [FileUse] = { _, _ in [] }
  /// Directories that must not be cleaned up under another name either.
  var protected = ProtectedDirectories.current()
  /// nil means what the kernel can do.
  var resolution: PathResolution?
  /// So long after a checkpoint the next one is due: each is a synced write, and costs nothing but its own time to lose.
  var checkpointInterval: Duration = .seconds(1)
  /// How many files a survey keeps at once.
  var surveyCapacity = 1_000_000
  /// Called at points where another process might interfere, with the file's path; for tests that force an interleaving.
  var interleave: ((SweepPoint, String) -> Void)?
}
