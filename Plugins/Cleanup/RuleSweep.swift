internal import CCleanup
internal import Glibc
internal import Logging
internal import TaskHostSDK

/// Executes one rule whose boundary between files to remove and to keep is known: collects the files to remove, asks whether they are
/// open, and removes them. As a rehearsal, it only finds out which of them cannot be removed.
///
/// Directly before it removes a file, it checks that this is still the file that it saw. Between this check and unlinkat(2), another
/// process has a few microseconds to rename another file over it; Linux offers no way to close this gap. It can affect only an entry of
/// that name in that directory.
final class RuleSweep: TreeVisitor {
  let rule: Rule
  let root: DirectoryHandle
  let environment: SweepEnvironment
  /// The reference time for ages, nanoseconds since 1970.
  let asOf: Int64
  /// The boundary; nil if each file can be judged alone.
  let cut: Cut?
  /// Files that cannot be removed according to a rehearsal.
  let excluded: Set<UInt64>
  let isRehearsal: Bool
  let batchSize: Int
  let onBatch: (RuleReport, _ dealtWith: UInt64) throws(SweepInterruption) -> Void

  private(set) var report: RuleReport
  /// In a rehearsal: the files that cannot be removed.
  private(set) var unremovable: Set<UInt64> = []
  private(set) var dealtWith: UInt64 = 0
  private var batch = CandidateBatch()
  /// The previous batch, which is being asked about.
  private var asked: (batch: CandidateBatch, answers: PendingAnswers)?
  private var working = CandidateBatch()
  private var namesOnLine = 0
  /// In a dry run: how many names of each file with several names would have been removed.
  private var rehearsedNames: [UInt64: UInt64] = [:]
  private let holdsLeases = taskhost_cleanup_may_lease() != 0
  private let cursor: DirectoryCursor
  private let path = EntryPath()
  private var pace = Pace()

  /// The maximum number of directories of a batch to ask about again if the sweep itself may have had them open.
  private static let mostDoubts = 16
  /// Above this number the rule gives up: the limit cannot be met.
  static let mostUnremovable = 65_536

  init(
    _ rule: Rule, root: DirectoryHandle, environment: SweepEnvironment, asOf: Int64, cut: Cut?, excluded: Set<UInt64> = [],
    isRehearsal: Bool = false, report: RuleReport, batchSize: Int,
    onBatch: @escaping (RuleReport, UInt64) throws(SweepInterruption) -> Void
  ) {
    self.rule = rule
    self.root = root
    cursor = DirectoryCursor(root)
    self.environment = environment
    self.asOf = asOf
    self.cut = cut
    self.excluded = excluded
    self.isRehearsal = isRehearsal
    self.report = report
    self.batchSize = batchSize
    self.onBatch = onBatch
  }

  // MARK: Calls from the walk

  func seen() { seenFiles += 1 }
  /// Files seen by the walk, for the report of a rule that is searched for the first time.
  private(set) var seenFiles: UInt64 = 0
  private(set) var matchedFiles: UInt64 = 0

  func visit(_ name: UnsafeRawBufferPointer, in directory: DirectoryNode, _ status: FileStatus) throws(SweepInterruption) {
    matchedFiles += 1
    let time = rule.ageBy.time(of: status)
    guard mustGo(time, status.identity.inode) else { return }
    directory.candidates += 1
    batch.append(name, in: directory, status, time: time)
    if batch.isFull { try handOver() }
  }

  func leave(_ directory: DirectoryNode) throws(SweepInterruption) {
    guard rule.removeEmptyDirectories, !isRehearsal, let parent = directory.parent else { return }
    guard directory.entries == directory.candidates else { return }
    let minAge = rule.limits.minAge
    guard minAge <= .zero || directory.status.modified <= asOf - minAge.wholeNanoseconds else { return }
    parent.candidates += 1
    batch.append(directory)
    if batch.isFull { try handOver() }
  }

  func foundOtherFileSystem() { if !isRehearsal { report.otherFileSystem += 1 } }

  func couldNotSearch(_ path: String, _ reason: String) {
    guard !isRehearsal else { return }
    report.unsearched += 1
    report.note("\(path): cannot be searched: \(reason)")
  }

  func wasRefused(_ error: SystemError, owner: UInt32) {
    guard !isRehearsal else { return }
    report.note(error, owner: owner)
  }

  private func mustGo(_ time: Int64, _ inode: UInt64) -> Bool {
    let age = rule.limits.age(of: time, at: asOf)
    guard rule.limits.isOldEnough(age) else { return false }
    guard let cut else { return rule.limits.maxAge.map { age > $0.wholeNanoseconds } ?? false }
    if !excluded.isEmpty, excluded.contains(inode) { return false }
    switch cut.side(time: time, inode: inode) {
    case .goes: return true
    case .stays: return false
    case .counted:
      namesOnLine += 1
      return namesOnLine <= cut.names
    }
  }

  // MARK: Collected entries

  /// Asks about the collected batch while the walk continues, and handles the previous batch.
  private func handOver() throws(SweepInterruption) {
    let earlier = asked
    let questions = batch.questions(0..<batch.entries.count, device: root.status.identity.device)
    asked = (batch, PendingAnswers(to: questions, in: rule.directory, environment.openFiles))
    batch = CandidateBatch(limit: pace.files)
    if let earlier { try deal(with: earlier.batch, earlier.answers) }
  }

  /// Handles everything that was collected. Call it at the end of the walk.
  func flush() throws(SweepInterruption) {
    guard asked != nil else {
      // Nothing runs concurrently now.
      let all = batch
      batch = CandidateBatch()
      return try deal(with: all, nil)
    }
    try handOver()
    if let last = asked {
      asked = nil
      try deal(with: last.batch, last.answers)
    }
  }

  /// - Parameter pending: The question in progress about all entries; nil to ask now.
  private func deal(with collected: CandidateBatch, _ pending: PendingAnswers?) throws(SweepInterruption) {
    working = collected
    defer { working = CandidateBatch() }
    var sheet = AnswerSheet()
    if let pending {
      let (answers, cameAt) = pending.wait()
      let all = 0..<working.entries.count
      sheet = AnswerSheet(working.uses(all, answers), about: all, askedAt: pending.askedAt, cameAt: cameAt, isClouded: true)
    }
    var began = ContinuousClock.now
    var doubts = Self.mostDoubts
    var place: (number: Int, directory: Result<DirectoryHandle, SystemError>)?
    for index in working.entries.indices {
      if environment.isCancelled() { throw .stopped }
      let now = ContinuousClock.now
      let entry = working.entries[index]
      let use: FileUse
      let known = sheet.use(of: index, at: now)
      let isDoubtful = known == .open && entry.isDirectory && sheet.isClouded && doubts > 0
      if let known, !isDoubtful {
        use = known
      } else {
        if isDoubtful {
          doubts -= 1
        } else if sheet.entries.contains(index) {
          pace.fellBehind(after: index - sheet.entries.lowerBound)
        } else if !sheet.entries.isEmpty {
          pace.keptUp()
        }
        place = nil
        sheet = ask(from: index)
        if environment.isCancelled() { throw .stopped }
        let came = ContinuousClock.now
        // The time spent asking does not count as time for files.
        began += now.duration(to: came)
        use = sheet.use(of: index, at: came) ?? .unknown
      }
      if entry.isDirectory {
        if working.directories[entry.directory].entries == working.directories[entry.directory].removed { removeDirectory(entry, use) }
        continue
      }
      if place?.number != entry.directory {
        let node = working.directories[entry.directory]
        place = (entry.directory, Result { () throws(SystemError) in try cursor.open(node) })
      }
      guard let place else { continue }
      account(entry, verdict(entry, use, in: place.directory))
      dealtWith += 1
      guard unremovable.count <= Self.mostUnremovable else {
        throw .blocked(
          "more than \(Self.mostUnremovable) files that a limit selects cannot be removed: check who owns them or has them open")
      }
      if dealtWith % UInt64(batchSize) == 0 { try onBatch(report, dealtWith) }
    }
    pace.note(working.entries.count, began.duration(to: .now))
  }

  /// Asks about the entry at `index` and as many following entries as can be handled while the answer is valid.
  private func ask(from index: Int) -> AnswerSheet {
    cursor.close()
    let range = index..<min(working.entries.count, index + pace.files)
    let askedAt = ContinuousClock.now
    let answers = environment.openFiles(rule.directory, working.questions(range, device: root.status.identity.device))
    return AnswerSheet(working.uses(range, answers), about: range, askedAt: askedAt, cameAt: .now)
  }

  private func verdict(
    _ entry: CandidateBatch.Entry, _ use: FileUse, in place: Result<DirectoryHandle, SystemError>
  ) -> RemovalVerdict {
    do throws(SystemError) {
      let directory = try place.get()
      try path.set(working.name(of: entry), in: working.directories[entry.directory])
      return try judge(entry, use, directory)
    } catch {
      switch error.code {
      case ENOENT: return .vanished
      case ELOOP, ENOTDIR, ESTALE: return .changed
      case EXDEV: return .otherFileSystem
      default: return .failed(error)
      }
    }
  }

  /// Judges the entry that ``path`` is set to.
  private func judge(
    _ entry: CandidateBatch.Entry, _ use: FileUse, _ directory: DirectoryHandle
  ) throws(SystemError) -> RemovalVerdict {
    if !isRehearsal { environment.interleave?(.chosen, displayPath(entry)) }
    if use == .open { return .inUse }
    if isRehearsal || rule.dryRun,
      let obstacle = entry.isGuarded ? SystemError(code: EPERM) : directory.obstacle(toRemovingFileOf: entry.owner)
    {
      return .failed(obstacle)
    }
    // The descriptor holds the claim until the end of this function.
    let claimed = use == .unknown || (holdsLeases && !rule.dryRun && !isRehearsal) ? try claim(entry, directory) : nil
    if let early = claimed?.verdict(use, removesUnsure: rule.removesUnsure) { return early }
    if !isRehearsal { environment.interleave?(.claimed, displayPath(entry)) }
    let status = try lastLook(in: directory)
    guard status.isOnSameMount(as: root.status) else { return .otherFileSystem }
    guard status.kind == .regular, status.identity.inode == entry.inode, status.modified == entry.modified,
      rule.ageBy.time(of: status) == entry.time
    else { return .changed }
    if !isRehearsal, !rule.dryRun { try directory.unlink(path.name) }
    return withExtendedLifetime(claimed) { .removed(isLastName: status.links <= 1, names: status.links) }
  }

  /// The current status of ``path``, resolved from the rule's directory so that a moved directory is noticed, unless the path is too long
  /// for the system.
  private func lastLook(in directory: DirectoryHandle) throws(SystemError) -> FileStatus {
    if let whole = path.path { return try root.status(of: whole) }
    return try directory.status(of: path.name)
  }

  private func claim(_ entry: CandidateBatch.Entry, _ directory: DirectoryHandle) throws(SystemError) -> FileClaim {
    let claim = try FileClaim(Array(working.name(of: entry)), in: directory, takesLease: !rule.dryRun)
    guard claim.inode == entry.inode else { throw SystemError(code: ESTALE) }
    return claim
  }

  private func account(_ entry: CandidateBatch.Entry, _ verdict: RemovalVerdict) {
    let node = working.directories[entry.directory]
    switch verdict {
    case .removed(let isLastName, let names):
      guard !isRehearsal else { return }
      report.removed += 1
      node.removed += 1
      if isLastName || isLastRehearsed(entry.inode, names) { report.bytesRemoved += entry.size }
      return
    case .vanished: node.removed += 1
    case .inUse: report.keptOpen += 1
    case .changed: report.changed += isRehearsal ? 0 : 1
    case .otherFileSystem: report.otherFileSystem += isRehearsal ? 0 : 1
    case .unknownUse: report.note("\(displayPath(entry)): \(Self.unsure)")
    case .failed(let error):
      report.note("\(displayPath(entry)): \(error)")
      report.note(error, owner: node.status.isSticky ? entry.owner : node.status.owner)
    }
    if isRehearsal { unremovable.insert(entry.inode) }
  }

  /// A dry run does not remove names, so it counts them.
  private func isLastRehearsed(_ inode: UInt64, _ names: UInt64) -> Bool {
    guard rule.dryRun, names > 1, rehearsedNames.count < Self.mostUnremovable || rehearsedNames[inode] != nil else { return false }
    rehearsedNames[inode, default: 0] += 1
    return rehearsedNames[inode] == names
  }

  /// Short, because a message with its file name is cut to 160 characters.
  private static let unsure =
    geteuid() == 0
    ? "cannot tell whether it is open: its file system grants no lease, or it was replaced just now; if_unsure = \"remove\" removes it"
    : "cannot tell whether it is open: run the host as root or as its owner, or set if_unsure = \"remove\""

  /// Called from the deepest directory up: a directory comes after everything in it.
  private func removeDirectory(_ entry: CandidateBatch.Entry, _ use: FileUse) {
    let node = working.directories[entry.directory]
    guard let parent = node.parent else { return }
    // The directory is empty, so nothing is lost if its use is unknown.
    if use == .open { return }
    do throws(SystemError) {
      let place = try cursor.open(parent)
      try path.set(node.name[...], in: parent)
      let status = try lastLook(in: place)
      guard status.kind == .directory, status.identity == node.status.identity, status.isOnSameMount(as: root.status) else {
        throw SystemError(code: ESTALE)
      }
      if !rule.dryRun { try place.removeDirectory(path.name) }
      report.directoriesRemoved += 1
      parent.removed += 1
    } catch {
      switch error.code {
      case ENOENT, ENOTEMPTY, EEXIST, EBUSY, ELOOP, ENOTDIR, EXDEV, ESTALE: break
      default:
        report.unremovedDirectories += 1
        report.note("\(node.displayPath(of: [])): cannot be removed: \(error)")
        report.note(error, owner: parent.status.isSticky ? node.status.owner : parent.status.owner)
      }
    }
  }

  private func displayPath(_ entry: CandidateBatch.Entry) -> String {
    working.directories[entry.directory].displayPath(of: Array(working.name(of: entry)))
  }
}

enum RemovalVerdict: Sendable, Equatable {
  /// Removed, or in a dry run or rehearsal, removable. `names` is the number of its names.
  case removed(isLastName: Bool, names: UInt64)
  /// A process has it open, mapped or locked.
  case inUse
  case unknownUse
  /// The entry has changed since the scan and stays: it was replaced or written to, or its directory moved.
  case changed
  case vanished
  /// Another file system was mounted over it.
  case otherFileSystem
  case failed(SystemError)
}
