import TestSupport
import Logging
import TaskHostSDK

@testable import Cleanup

/// Runs a sweep over real directories and keeps what it said on the way.
final class Sweep {
  var isCancelled: () -> Bool = { false }
  /// By default nothing is open: tests that are not about open files must not depend on what others have open.
  var openFiles: (String, [FileReference]) -> [FileUse] = { _, files in files.map { _ in .notOpen } }
  var surveyCapacity = 1_000_000
  var checkpointInterval = Duration.zero
  var interleave: ((SweepPoint, String) -> Void)?
  var resolution: PathResolution?
  var protected = ProtectedDirectories(homes: [])
  var batchSize = 256
  var now = TestTree.now * 1_000_000_000

  /// The last one is what the next run is given.
  private(set) var checkpoints: [CleanupCheckpoint] = []
  private(set) var progress: [(completed: UInt64, total: UInt64)] = []
  private(set) var log: [String] = []

  /// A sweep that is told as by a real host who has files open, once no child has copies of this process's descriptors.
  static func askingHost() -> Sweep {
    Command.settle()
    let sweep = Sweep()
    sweep.openFiles = { directory, files in
      HostAnswers.uses(files.map { ($0.device, $0.inode, $0.path) }, in: directory)
    }
    return sweep
  }

  /// A sweep whose host can tell nothing.
  static func knowingNothing() -> Sweep {
    let sweep = Sweep()
    sweep.openFiles = { _, _ in [] }
    return sweep
  }

  /// Carries out `rules`, going on from the last checkpoint.
  func run(_ rules: [Rule]) throws -> Sweeper.Outcome {
    var environment = SweepEnvironment(
      now: now, isCancelled: isCancelled, saveCheckpoint: { self.checkpoints.append($0) },
      progress: { self.progress.append(($0, $1)) }, log: { _, text in self.log.append(text) })
    environment.openFiles = openFiles
    environment.protected = protected
    environment.surveyCapacity = surveyCapacity
    environment.checkpointInterval = checkpointInterval
    environment.resolution = resolution
    environment.interleave = interleave
    let sweeper = Sweeper(rules, batchSize: batchSize, resuming: checkpoints.last, environment: environment)
    return try sweeper.run()
  }

  /// The report of a single rule that must run to its end.
  func finish(_ rule: Rule) throws -> RuleReport {
    guard case .finished(let report) = try run([rule]), let first = report.rules.first else { throw TestFailure("the sweep was stopped") }
    return first
  }
}

extension Rule {
  /// A rule about everything directly in `tree`, unless told otherwise.
  static func about(_ tree: TestTree, _ glob: String = "*", recursive: Bool? = nil, exclude: [String] = [], limits: Limits) throws -> Rule {
    let pattern = try Glob(glob)
    return Rule(
      name: "rule", directory: tree.path, glob: pattern, recursive: recursive ?? pattern.hasSlash,
      exclude: try exclude.map { try Glob($0) },
      limits: limits, removeEmptyDirectories: false, dryRun: false)
  }
}

extension Limits {
  /// Everything older than a second goes.
  static let everything = Limits(maxAge: .zero)
}
