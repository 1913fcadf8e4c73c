internal import Glibc
internal import Logging
import StrictText

/// Executes rules in sequence: finds the boundary between files to remove and to keep, rehearses, and removes. Saves checkpoints between
/// batches.
final class Sweeper {
  private let rules: [Rule]
  private let batchSize: Int
  private let environment: SweepEnvironment
  private var checkpoint: CleanupCheckpoint
  private let beginning: Progress
  /// Files handled in finished rules.
  private var dealtWithBefore: UInt64 = 0

  /// The progress that is not lost when the next run searches again.
  private struct Progress: Equatable {
    var rules = 0
    var removed: UInt64 = 0

    init(_ reports: [RuleReport]) {
      for report in reports {
        if report.status != .unfinished { rules += 1 }
        if !report.dryRun { removed = removed &+ report.removed &+ report.directoriesRemoved }
      }
    }
  }

  enum Outcome: Sendable, Equatable {
    case finished(CleanupReport)
    /// The run was asked to stop; the checkpoint says where to continue.
    case stopped(CleanupReport)
  }

  /// In nanoseconds. An older checkpoint belongs to an unfinished earlier occurrence, and its finished rules are due again.
  private static let longestPause: Int64 = 86_400 * 1_000_000_000
  /// The largest count of fruitless runs.
  private static let mostFruitlessRuns = 1_000

  /// - Parameters:
  ///   - rules: The rules to execute, with the payload's dry run already applied.
  ///   - resuming: The checkpoint of an earlier run; ignored if it belongs to other rules, or is more than a day old.
  init(_ rules: [Rule], batchSize: Int, resuming: CleanupCheckpoint?, environment: SweepEnvironment) {
    self.rules = rules
    self.batchSize = max(1, batchSize)
    self.environment = environment
    let fingerprint = CleanupCheckpoint.fingerprint(of: rules)
    if let resuming, resuming.version == CleanupCheckpoint.currentVersion, resuming.fingerprint == fingerprint,
      resuming.reports.count <= rules.count, (0...Self.longestPause).contains(environment.now.subtractingReportingOverflow(resuming.asOf).0)
    {
      checkpoint = resuming
    } else {
      checkpoint = CleanupCheckpoint(fingerprint: fingerprint, asOf: environment.now, reports: [])
      // Kept regardless of age, because these runs had the same rules.
      if let resuming, resuming.fingerprint == fingerprint { checkpoint.fruitlessRuns = resuming.fruitlessRuns }
    }
    beginning = Progress(checkpoint.reports)
  }

  /// Executes the rules, from the checkpoint on.
  ///
  /// - Throws: Only errors of writing a checkpoint.
  func run() throws -> Outcome {
    for (index, rule) in rules.enumerated() {
      var report = report(at: index, for: rule)
      if report.status == .unfinished {
        if environment.isCancelled() {
          put(report, at: index)
          return try stop()
        }
        do throws(SweepInterruption) {
          try sweep(rule, &report, at: index)
          conclude(rule, &report)
        } catch {
          switch error {
          case .stopped:
            put(report, at: index)
            return try stop()
          case .missing:
            report.status = .missing
            report.problem = "\(rule.directory) does not exist"
            environment.log(.notice, "rule \(rule.name): \(rule.directory) does not exist, nothing to clean up")
          case .blocked(let why):
            report.status = .blocked
            report.problem = why
            environment.log(.error, "rule \(rule.name): \(why)")
          }
        }
        put(report, at: index)
        if let failure = saveFailure { throw failure }
        try environment.saveCheckpoint(checkpoint)
      }
      dealtWithBefore += dealtWith(report)
      environment.progress(dealtWithBefore, dealtWithBefore)
    }
    return .finished(CleanupReport(rules: checkpoint.reports))
  }

  /// Whether this run has removed anything or finished a rule; a mere search must be repeated.
  var hasProgressed: Bool { Progress(checkpoint.reports) != beginning }

  /// The number of consecutive runs, including this one, that spent their whole budget without progress.
  var fruitlessRuns: Int { checkpoint.fruitlessRuns ?? 0 }

  private var lastSave = ContinuousClock.now

  /// The error of writing a checkpoint during a rule.
  private var saveFailure: (any Error)?

  // MARK: One rule

  private func sweep(_ rule: Rule, _ report: inout RuleReport, at index: Int) throws(SweepInterruption) {
    let root = try open(rule)
    let removedBefore = report.removed
    let earlier = dealtWithBefore + removedBefore
    var (cut, planned, excluded) = (Cut?.none, UInt64(0), Set<UInt64>())
    if Survey.isNeeded(for: rule.limits) {
      var survey = try survey(rule, root, excluding: [], &report, removedBefore)
      if survey.planned > 0 {
        excluded = try rehearse(rule, root, survey.cut, &report)
        if !excluded.isEmpty { survey = try self.survey(rule, root, excluding: excluded, &report, removedBefore) }
      }
      if survey.uncountedLinks > 0 {
        environment.log(.notice, "rule \(rule.name): the bytes of \(survey.uncountedLinks) files with several names are not counted")
      }
      (cut, planned) = (survey.cut, UInt64(survey.planned))
    }
    environment.progress(earlier, earlier + planned)
    var sweep = RuleSweep(
      rule, root: root, environment: environment, asOf: checkpoint.asOf, cut: cut, excluded: excluded, report: report,
      batchSize: batchSize,
      onBatch: { [self] (report, dealtWith) throws(SweepInterruption) in
        environment.progress(earlier + dealtWith, earlier + max(planned, dealtWith))
        try save(report, at: index)
      })
    var walk = TreeWalk(rule, root: root, isCancelled: environment.isCancelled)
    do throws(SweepInterruption) {
      try walk.run(&sweep)
      try sweep.flush()
    } catch {
      report = sweep.report
      throw error
    }
    report = sweep.report
    count(seen: sweep.seenFiles, matched: sweep.matchedFiles, in: &report, removedBefore)
    environment.progress(earlier + sweep.dealtWith, earlier + sweep.dealtWith)
  }

  /// Finds the boundary between files to remove and to keep, in one pass over the tree unless it has more files than the survey's capacity.
  private func survey(
    _ rule: Rule, _ root: DirectoryHandle, excluding excluded: Set<UInt64>, _ report: inout RuleReport, _ removedBefore: UInt64
  ) throws(SweepInterruption) -> Survey {
    let survey = Survey(
      limits: rule.limits, now: checkpoint.asOf, capacity: environment.surveyCapacity, linkCapacity: max(1, environment.surveyCapacity / 4))
    var visitor = SurveyVisitor(survey: survey, ageBy: rule.ageBy, excluded: excluded)
    repeat {
      (visitor.seenFiles, visitor.matchedFiles) = (0, 0)
      var walk = TreeWalk(rule, root: root, isCancelled: environment.isCancelled)
      try walk.run(&visitor)
      count(seen: visitor.seenFiles, matched: visitor.matchedFiles, in: &report, removedBefore)
    } while !visitor.survey.endPass()
    return visitor.survey
  }

  /// Finds out which of the files to remove cannot be removed. If they counted, other files would be removed in vain.
  private func rehearse(
    _ rule: Rule, _ root: DirectoryHandle, _ cut: Cut, _ report: inout RuleReport
  ) throws(SweepInterruption) -> Set<UInt64> {
    var rehearsal = RuleSweep(
      rule, root: root, environment: environment, asOf: checkpoint.asOf, cut: cut, isRehearsal: true, report: report,
      batchSize: batchSize, onBatch: { (_, _) throws(SweepInterruption) in })
    var walk = TreeWalk(rule, root: root, isCancelled: environment.isCancelled)
    try walk.run(&rehearsal)
    try rehearsal.flush()
    report = rehearsal.report
    return rehearsal.unremovable
  }

  /// Sets the counts as of the rule's first search, by adding the files that an earlier run removed to the remaining ones.
  private func count(seen: UInt64, matched: UInt64, in report: inout RuleReport, _ removedBefore: UInt64) {
    report.scanned = max(report.scanned, seen + removedBefore)
    report.matched = max(report.matched, matched + removedBefore)
  }

  private func conclude(_ rule: Rule, _ report: inout RuleReport) {
    report.status = .done
    let remedy = report.remedyForOtherUsers
    if report.isMostlyErrors {
      report.status = .failed
      report.problem = remedy ?? "\(report.errors) errors, \(report.removed) files removed; the first: \(report.messages.first ?? "")"
    }
    if let remedy { environment.log(.warning, "rule \(rule.name): \(remedy)") }
    environment.log(
      .info,
      "rule \(rule.name): \(report.matched) of \(report.scanned) files match, \(rule.dryRun ? "would remove" : "removed") "
        + "\(report.removed) (\(ByteCountFormat.words(Int64(clamping: report.bytesRemoved)))), \(report.keptOpen) in use, \(report.errors) errors"
    )
  }

  private func open(_ rule: Rule) throws(SweepInterruption) -> DirectoryHandle {
    let root: DirectoryHandle
    do throws(SystemError) {
      root = try DirectoryHandle.open(absolute: rule.directory, resolution: environment.resolution)
    } catch {
      switch error.code {
      case ENOENT: throw .missing
      case ELOOP, ENOTDIR:
        throw .blocked(
          "\(rule.directory) is not a directory, or its path leads through a symlink; write the real path, as `realpath` prints it")
      default: throw .blocked("cannot open \(rule.directory): \(error)")
      }
    }
    for path in environment.protected.identityPaths {
      let status = path.withCString { try? FileStatus(directory: AT_FDCWD, name: $0, followingSymlink: true) }
      guard status?.identity != root.status.identity else {
        throw .blocked("\(rule.directory) is \(path) under another name, where nothing is cleaned up")
      }
    }
    return root
  }

  // MARK: The checkpoint

  /// The report of the rule at `index`, new or from the checkpoint. Files that an unfinished rule left in place will be found again, so
  /// they are not counted twice; in a dry run these are all files.
  private func report(at index: Int, for rule: Rule) -> RuleReport {
    let fresh = RuleReport(named: rule.name, dryRun: rule.dryRun)
    guard index < checkpoint.reports.count else { return fresh }
    let known = checkpoint.reports[index]
    guard known.status == .unfinished else { return known }
    guard !rule.dryRun else { return fresh }
    var report = fresh
    report.scanned = known.scanned
    report.matched = known.matched
    report.removed = known.removed
    report.bytesRemoved = known.bytesRemoved
    report.directoriesRemoved = known.directoriesRemoved
    return report
  }

  private func put(_ report: RuleReport, at index: Int) {
    checkpoint.reports = Array(checkpoint.reports.prefix(index)) + [report]
  }

  private func save(_ report: RuleReport, at index: Int) throws(SweepInterruption) {
    guard lastSave.duration(to: .now) >= environment.checkpointInterval else { return }
    lastSave = .now
    put(report, at: index)
    do {
      try environment.saveCheckpoint(checkpoint)
    } catch {
      saveFailure = error
      throw .stopped
    }
  }

  private func stop() throws -> Outcome {
    if let saveFailure { throw saveFailure }
    if hasProgressed {
      checkpoint.fruitlessRuns = nil
    } else if environment.isBudgetSpent() {
      checkpoint.fruitlessRuns = max(0, min(fruitlessRuns, Self.mostFruitlessRuns)) + 1
    }
    try environment.saveCheckpoint(checkpoint)
    return .stopped(CleanupReport(rules: checkpoint.reports))
  }

  private func dealtWith(_ report: RuleReport) -> UInt64 {
    report.removed + report.keptOpen + report.changed + report.otherFileSystem + report.errors
  }
}
