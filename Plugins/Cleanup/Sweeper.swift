internal import Glibc
internal import Logging

/// Carries out rules, one after the other: search, select, remove in batches, checkpoint after each.
struct Sweeper {
  private let rules: [Rule]
  private let batchSize: Int
  private let environment: SweepEnvironment
  private var checkpoint: CleanupCheckpoint
  /// Files dealt with in rules that are done.
  private var dealtWithBefore: UInt64 = 0

  /// How a sweep ended.
  enum Outcome: Sendable, Equatable {
    case finished(CleanupReport)
    /// Told to stop; the checkpoint says where to go on.
    case stopped(CleanupReport)
  }

  /// Beyond this a checkpoint belongs to an occurrence that nobody finished, and the rules it counts as done are due again. Nanoseconds.
  private static let longestPause: Int64 = 86_400 * 1_000_000_000

  /// Why a rule was not carried out to its end.
  private enum Interruption: Error {
    case stopped
    case missing
    case blocked(String)
  }

  /// - Parameters:
  ///   - rules: Those to carry out, with the dry run of the payload already applied.
  ///   - resuming: The checkpoint of an earlier run; ignored when it is about other rules, or more than a day old.
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
    }
  }

  /// Everything, from where the checkpoint left off.
  ///
  /// - Throws: Only what keeping a checkpoint throws.
  mutating func run() throws -> Outcome {
    for (index, rule) in rules.enumerated() {
      var report = report(at: index, for: rule)
      if report.status == .unfinished {
        if environment.isCancelled() { return try stop() }
        do throws(Interruption) {
          try sweep(rule, &report, at: index)
          report.status = .done
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

  /// What keeping a checkpoint threw in the middle of a rule.
  private var saveFailure: (any Error)?

  // MARK: One rule

  private mutating func sweep(_ rule: Rule, _ report: inout RuleReport, at index: Int) throws(Interruption) {
    let root = try open(rule)
    let scan = try search(rule, root, &report)
    let openFiles = environment.openFiles(environment.isCancelled)
    if environment.isCancelled() { throw .stopped }
    if !openFiles.isComplete {
      environment.log(.debug, "rule \(rule.name): some processes' open files cannot be seen; relying on leases and locks for them")
    }
    var table = scan.table
    try removeFiles(rule, root, &table, openFiles, &report, at: index)
    if rule.removeEmptyDirectories { try removeDirectories(rule, root, &table, openFiles, &report, at: index) }
    environment.log(
      .info,
      "rule \(rule.name): \(report.matched) of \(report.scanned) files match, \(rule.dryRun ? "would remove" : "removed") "
        + "\(report.removed) (\(Quantity.describe(bytes: report.bytesRemoved))), \(report.keptOpen) in use, \(report.errors) errors")
  }

  private func open(_ rule: Rule) throws(Interruption) -> DirectoryHandle {
    let root: DirectoryHandle
    do throws(SystemError) {
      root = try DirectoryHandle.open(absolute: rule.directory, resolution: environment.resolution)
    } catch {
      switch error.code {
      case ENOENT: throw .missing
      case ELOOP, ENOTDIR:
        throw .blocked(
          "\(rule.directory) is no directory, or its path leads through a symlink; write the real path, as `realpath` prints it")
      default: throw .blocked("cannot open \(rule.directory): \(error)")
      }
    }
    for path in environment.protected.identityPaths {
      let status = path.withCString { try? FileStatus(directory: AT_FDCWD, name: $0, followingSymlink: true) }
      guard status?.identity != root.status.identity else {
        throw .blocked("\(rule.directory) is \(path) under another name; nothing there is cleaned up")
      }
    }
    return root
  }

  private func search(_ rule: Rule, _ root: borrowing DirectoryHandle, _ report: inout RuleReport) throws(Interruption) -> ScanResult {
    let scan: ScanResult
    do throws(SystemError) {
      scan = try Scanner.scan(rule, root: root, isCancelled: environment.isCancelled)
    } catch {
      throw .blocked("cannot search \(rule.directory): \(error)")
    }
    if scan.isCancelled { throw .stopped }
    if report.scanned == 0 {
      report.scanned = scan.scanned
      report.matched = UInt64(scan.table.count)
    }
    report.otherFileSystem += scan.otherFileSystems
    report.errors += scan.unreadable
    report.messages += scan.messages.prefix(RuleReport.maximumMessages - report.messages.count)
    return scan
  }

  /// Short: of a message 160 characters are kept, the name among them.
  private static let unsure = "cannot tell whether it is open, as in a worker: set if_unsure = \"remove\", or use thread isolation"

  private mutating func removeFiles(
    _ rule: Rule, _ root: borrowing DirectoryHandle, _ table: inout FileTable, _ openFiles: OpenFileIndex, _ report: inout RuleReport,
    at index: Int
  ) throws(Interruption) {
    var selection = Selection(table, limits: rule.limits, now: checkpoint.asOf)
    let earlier = dealtWithBefore + report.removed
    let planned = UInt64(selection.planned(in: table))
    var dealtWith: UInt64 = 0
    environment.progress(earlier, earlier + planned)
    while let number = selection.next() {
      if environment.isCancelled() { throw .stopped }
      let record = table[number]
      let verdict = remove(record, table, openFiles, root, rule)
      switch verdict {
      case .removed:
        report.removed += 1
        report.bytesRemoved += selection.remove(record, table.identity(record))
        table.removeEntry(ofDirectory: record.directory)
      case .vanished:
        _ = selection.remove(record, table.identity(record))
        table.removeEntry(ofDirectory: record.directory)
      case .inUse: report.keptOpen += 1
      case .changed: report.changed += 1
      case .otherFileSystem: report.otherFileSystem += 1
      case .unknownUse:
        report.note("\(table.displayPath(record)): \(Self.unsure)")
      case .failed(let error): report.note("\(table.displayPath(record)): \(error)")
      }
      dealtWith += 1
      if dealtWith % UInt64(batchSize) == 0 {
        environment.progress(earlier + dealtWith, earlier + max(planned, dealtWith))
        try save(report, at: index)
      }
    }
    environment.progress(earlier + dealtWith, earlier + dealtWith)
  }

  private func remove(
    _ record: FileRecord, _ table: FileTable, _ openFiles: OpenFileIndex, _ root: borrowing DirectoryHandle, _ rule: Rule
  ) -> RemovalVerdict {
    var beforeUnlink: (() -> Void)?
    if let interleave = environment.interleave {
      let path = table.displayPath(record)
      interleave(.chosen, path)
      beforeUnlink = { interleave(.claimed, path) }
    }
    let remover = FileRemover(
      table: table, openFiles: openFiles, isDryRun: rule.dryRun, removesUnsure: rule.removesUnsure, beforeUnlink: beforeUnlink)
    return remover.remove(record, root: root)
  }

  /// From the deepest up: in the table a directory comes after the one that holds it.
  private mutating func removeDirectories(
    _ rule: Rule, _ root: borrowing DirectoryHandle, _ table: inout FileTable, _ openFiles: OpenFileIndex, _ report: inout RuleReport,
    at index: Int
  ) throws(Interruption) {
    let remover = EmptyDirectoryRemover(openFiles: openFiles, isDryRun: rule.dryRun)
    let newest = checkpoint.asOf - Int64(rule.limits.minAge.components.seconds) * 1_000_000_000
    var attempts = 0
    for number in stride(from: table.directories.count - 1, to: 0, by: -1) {
      let record = table.directories[number]
      guard record.entries == 0, rule.limits.minAge == .zero || record.modified <= newest else { continue }
      if environment.isCancelled() { throw .stopped }
      do throws(SystemError) {
        if try remover.remove(UInt32(number), of: table, root: root) {
          report.directoriesRemoved += 1
          table.removeEntry(ofDirectory: record.parent)
        }
      } catch {
        let path = table.path(ofDirectory: UInt32(number)).map { DisplayName.escaped($0) }.joined(separator: "/")
        report.note("\(path): cannot be removed: \(error)")
      }
      attempts += 1
      if attempts % batchSize == 0 { try save(report, at: index) }
    }
  }

  // MARK: The checkpoint

  /// The report of the rule at `index`, new or from the checkpoint. What an unfinished rule left in place will be met again, so it is
  /// not counted twice; in a dry run that is everything.
  private func report(at index: Int, for rule: Rule) -> RuleReport {
    let fresh = RuleReport(rule, dryRun: rule.dryRun)
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

  private mutating func put(_ report: RuleReport, at index: Int) {
    checkpoint.reports = Array(checkpoint.reports.prefix(index)) + [report]
  }

  private mutating func save(_ report: RuleReport, at index: Int) throws(Interruption) {
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
    try environment.saveCheckpoint(checkpoint)
    return .stopped(CleanupReport(rules: checkpoint.reports))
  }

  private func dealtWith(_ report: RuleReport) -> UInt64 {
    report.removed + report.keptOpen + report.changed + report.otherFileSystem + report.errors
  }
}
