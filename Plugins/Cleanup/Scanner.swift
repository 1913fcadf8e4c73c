internal import Glibc

/// Searches a rule's directory and notes the files that match. Keeps two directories open at a time and no state on the stack per level,
/// so neither a deep nor a wide tree exhausts anything.
struct Scanner {
  private let rule: Rule
  private let isCancelled: () -> Bool
  private var result = ScanResult()
  private var waiting: [Waiting] = []

  /// A directory yet to be listed.
  private struct Waiting {
    var directory: UInt32
    var position: Glob.Position
    var excluded: [Glob.Position]
  }

  private init(rule: Rule, isCancelled: @escaping () -> Bool) {
    self.rule = rule
    self.isCancelled = isCancelled
  }

  /// - Parameters:
  ///   - root: The rule's directory.
  ///   - isCancelled: Asked once a directory and once in 1024 entries; when true, the result says so and is not to be used.
  /// - Throws: What keeps the rule's own directory from being listed. A directory below that cannot be read is noted in the result.
  static func scan(_ rule: Rule, root: borrowing DirectoryHandle, isCancelled: @escaping () -> Bool) throws(SystemError) -> ScanResult {
    var scanner = Scanner(rule: rule, isCancelled: isCancelled)
    guard let top = scanner.result.table.appendDirectory(UnsafeRawBufferPointer(start: nil, count: 0), parent: 0) else {
      throw SystemError(code: ENOMEM)
    }
    scanner.waiting = [Waiting(directory: top, position: rule.glob.start, excluded: rule.exclude.map(\.start))]
    // The directory listed last stays open: most often the next is in it, and need not be reached from the top. Should it have been moved
    // elsewhere meanwhile, the scan sees what does not matter: a removal begins at the top again.
    var last: DirectoryHandle?
    var lastIndex = UInt32.max
    while let next = scanner.waiting.popLast() {
      if isCancelled() { scanner.result.isCancelled = true }
      if scanner.result.isCancelled { break }
      do throws(SystemError) {
        let directory = try scanner.open(next.directory, root: root, last: last, lastIndex)
        try scanner.list(next, directory)
        last = consume directory
        lastIndex = next.directory
      } catch {
        if next.directory == top { throw error }
        scanner.note(error, at: next.directory)
      }
    }
    return scanner.result
  }

  private func open(
    _ index: UInt32, root: borrowing DirectoryHandle, last: borrowing DirectoryHandle?, _ lastIndex: UInt32
  ) throws(SystemError) -> DirectoryHandle {
    let record = result.table.directories[Int(index)]
    if index != 0, record.parent == lastIndex {
      switch last {
      case .some(let parent): return try parent.open(beneath: [result.table.name(record)], toList: true)
      case .none: break
      }
    }
    return try root.open(beneath: result.table.path(ofDirectory: index), toList: true)
  }

  private mutating func list(_ place: Waiting, _ directory: borrowing DirectoryHandle) throws(SystemError) {
    result.table.setStatus(directory.status, ofDirectory: place.directory)
    var entries = 0
    try directory.forEachEntry { name, length, type throws(SystemError) in
      entries += 1
      if entries % 1024 == 0, isCancelled() { result.isCancelled = true }
      if !result.isCancelled {
        examine(UnsafeRawBufferPointer(start: name, count: length), name, type, place, directory)
      }
      return !result.isCancelled
    }
    result.table.setEntries(entries, ofDirectory: place.directory)
  }

  private mutating func examine(
    _ bytes: UnsafeRawBufferPointer, _ name: UnsafePointer<CChar>, _ type: Int32, _ place: Waiting, _ directory: borrowing DirectoryHandle
  ) {
    var kind: FileStatus.Kind
    var status: FileStatus?
    switch type {
    case Int32(DT_REG): kind = .regular
    case Int32(DT_DIR): kind = .directory
    case Int32(DT_UNKNOWN):
      status = try? directory.status(of: name)
      kind = status?.kind ?? .other
    default: kind = .other
    }
    guard kind != .other else { return }
    if kind == .regular { result.scanned += 1 }
    let position = rule.glob.advance(place.position, bytes)
    guard kind == .directory ? rule.recursive && rule.glob.canMatchBelow(position) : rule.glob.accepts(position) else { return }
    let excluded = zip(rule.exclude, place.excluded).map { $0.advance($1, bytes) }
    guard !zip(rule.exclude, excluded).contains(where: { $0.accepts($1) }) else { return }
    if kind == .directory {
      guard let index = result.table.appendDirectory(bytes, parent: place.directory) else { return noteFull() }
      waiting.append(Waiting(directory: index, position: position, excluded: excluded))
    } else {
      // One that is gone by now is nobody's business any more.
      guard let status = status ?? (try? directory.status(of: name)), status.kind == .regular else { return }
      if !result.table.append(bytes, in: place.directory, status) { noteFull() }
    }
  }

  /// Notes a directory that could not be listed.
  private mutating func note(_ error: SystemError, at directory: UInt32) {
    switch error.code {
    case EXDEV: result.otherFileSystems += 1
    case ENOENT, ELOOP, ENOTDIR: break  // removed or replaced since its name was read
    default:
      result.unreadable += 1
      if result.messages.count < RuleReport.maximumMessages {
        let path = result.table.path(ofDirectory: directory).map { DisplayName.escaped($0) }.joined(separator: "/")
        result.messages.append("\(path): cannot be searched: \(error)")
      }
    }
  }

  private mutating func noteFull() {
    result.unreadable += 1
    let message = "too many names for one rule; the rest is left for a later run"
    if result.messages.last != message { result.messages.append(message) }
  }
}
