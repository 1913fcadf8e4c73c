/// Files and directories that are meant to go, until enough of them are there to be asked about at once.
struct CandidateBatch {
  /// One of them.
  struct Entry {
    var inode: UInt64
    /// What its age is measured by, nanoseconds since 1970.
    var time: Int64
    /// Nanoseconds since 1970.
    var modified: Int64
    var size: UInt64
    /// Which of the batch's directories holds it; for a directory, which it is.
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

  /// So many are asked about at once; also the most that the host answers.
  static let largest = 16_384
  /// Bytes of names, about: so that a question is not too long for the host.
  private static let mostBytes = 1 << 20
  private var pathBytes = 0

  /// Whether it is time to deal with them.
  var isFull: Bool { entries.count >= Self.largest || pathBytes >= Self.mostBytes }

  mutating func append(_ name: UnsafeRawBufferPointer, in directory: DirectoryNode, _ status: FileStatus, time: Int64) {
    let index = number(of: directory)
    entries.append(
      Entry(
        inode: status.identity.inode, time: time, modified: status.modified, size: status.size, directory: index, nameStart: names.count,
        nameLength: name.count, isDirectory: false, isGuarded: status.isGuarded, owner: status.owner))
    names.append(contentsOf: name)
    pathBytes += name.count + depthBytes
  }

  /// A directory that holds nothing but what is meant to go.
  mutating func append(_ directory: DirectoryNode) {
    let index = number(of: directory)
    entries.append(
      Entry(
        inode: directory.status.identity.inode, time: 0, modified: 0, size: 0, directory: index, nameStart: names.count, nameLength: 0,
        isDirectory: true, isGuarded: directory.status.isGuarded, owner: directory.status.owner))
    pathBytes += depthBytes
  }

  /// An entry's name; empty for a directory.
  func name(of entry: Entry) -> ArraySlice<UInt8> { names[entry.nameStart..<entry.nameStart + entry.nameLength] }

  mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    directories.removeAll(keepingCapacity: true)
    names.removeAll(keepingCapacity: true)
    pathBytes = 0
  }

  /// Bytes of the path of the last directory.
  private var depthBytes = 0

  private mutating func number(of directory: DirectoryNode) -> Int {
    if let last = directories.last, last === directory { return directories.count - 1 }
    directories.append(directory)
    depthBytes = directory.path.reduce(0) { $0 + $1.count + 1 }
    return directories.count - 1
  }

  /// What to ask about the entries from `start` on; `device` is that of all of them.
  func questions(from start: Int, device: UInt64) -> [OpenFileQuestion] {
    var questions: [OpenFileQuestion] = []
    questions.reserveCapacity(entries.count - start)
    var prefix: [UInt8] = []
    var prefixOf = -1
    for entry in entries[start...] {
      if entry.directory != prefixOf {
        prefix = directories[entry.directory].path(of: [])
        prefixOf = entry.directory
      }
      var path = prefix
      path.append(contentsOf: name(of: entry))
      if entry.isDirectory { path.removeLast() }
      questions.append(OpenFileQuestion(identity: FileIdentity(device: device, inode: entry.inode), path: path))
    }
    return questions
  }
}
