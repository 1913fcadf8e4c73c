internal import TaskHostSDK

/// Collects files and directories to remove, until they fill one question.
struct CandidateBatch {
  /// A file or directory to remove.
  struct Entry {
    var inode: UInt64
    /// The time that decides its age, nanoseconds since 1970.
    var time: Int64
    /// Nanoseconds since 1970.
    var modified: Int64
    var size: UInt64
    /// The index of its directory in the batch; for a directory, its own index.
    var directory: Int
    fileprivate var nameStart: Int
    fileprivate var nameLength: Int
    var isDirectory: Bool
    var isGuarded: Bool
    var owner: UInt32
  }

  private(set) var entries: [Entry] = []
  private(set) var directories: [DirectoryNode] = []
  private var names: [UInt8] = []

  /// The maximum number of entries in one question; also the host's limit.
  static let largest = 16_384
  /// The approximate maximum number of path bytes, so that a question is not too long for the host.
  private static let mostBytes = 1 << 20
  private var pathBytes = 0

  private static let longestPath = 4_095
  private let limit: Int

  /// - Parameter limit: At most ``largest``.
  init(limit: Int = CandidateBatch.largest) { self.limit = limit }

  var isFull: Bool { entries.count >= limit || pathBytes >= Self.mostBytes }

  mutating func append(_ name: UnsafeRawBufferPointer, in directory: DirectoryNode, _ status: FileStatus, time: Int64) {
    append(name, directory, status, time: time, modified: status.modified, size: status.size, isDirectory: false)
  }

  /// Adds a directory that contains only entries to remove.
  mutating func append(_ directory: DirectoryNode) {
    append(UnsafeRawBufferPointer(start: nil, count: 0), directory, directory.status, time: 0, modified: 0, size: 0, isDirectory: true)
  }

  private mutating func append(
    _ name: UnsafeRawBufferPointer, _ directory: DirectoryNode, _ status: FileStatus, time: Int64, modified: Int64, size: UInt64,
    isDirectory: Bool
  ) {
    let entry = Entry(
      inode: status.identity.inode, time: time, modified: modified, size: size, directory: number(of: directory), nameStart: names.count,
      nameLength: name.count, isDirectory: isDirectory, isGuarded: status.isGuarded, owner: status.owner)
    entries.append(entry)
    names.append(contentsOf: name)
    if isAskable(entry) { pathBytes += name.count + directory.prefixLength }
  }

  /// An entry's name; empty for a directory.
  func name(of entry: Entry) -> ArraySlice<UInt8> { names[entry.nameStart..<entry.nameStart + entry.nameLength] }

  private mutating func number(of directory: DirectoryNode) -> Int {
    if let last = directories.last, last === directory { return directories.count - 1 }
    directories.append(directory)
    return directories.count - 1
  }

  /// Whether the host can be asked about the entry: false if its path is too long for the system.
  private func isAskable(_ entry: Entry) -> Bool {
    directories[entry.directory].prefixLength + entry.nameLength <= Self.longestPath
  }

  /// The questions about the entries in `range` that the host can answer; all are on `device`.
  func questions(_ range: Range<Int>, device: UInt64) -> [FileReference] {
    var questions: [FileReference] = []
    questions.reserveCapacity(range.count)
    var prefix: [UInt8] = []
    var prefixOf = -1
    for entry in entries[range] where isAskable(entry) {
      if entry.directory != prefixOf {
        prefix.removeAll(keepingCapacity: true)
        directories[entry.directory].appendPrefix(to: &prefix)
        prefixOf = entry.directory
      }
      var path: [UInt8] = []
      path.reserveCapacity(prefix.count + entry.nameLength)
      path.append(contentsOf: prefix)
      if entry.isDirectory { path.removeLast() } else { path.append(contentsOf: name(of: entry)) }
      questions.append(FileReference(device: device, inode: entry.inode, path: path))
    }
    return questions
  }

  /// The use of each entry in `range`, from the answers to ``questions(_:device:)``.
  func uses(_ range: Range<Int>, _ answers: [FileUse]) -> [FileUse] {
    guard answers.count != range.count else { return answers }
    var rest = answers[...]
    return entries[range].map { isAskable($0) ? rest.popFirst() ?? .unknown : .unknown }
  }
}
