/// What a scan found: the searched directories and the matching files, kept compact. A million files need about 80 MB.
struct FileTable: Sendable {
  private static let pieceSize = 1 << 13

  private var pieces: [[FileRecord]] = []
  private var names = ByteArena()
  private var devices: [UInt64] = []
  /// The names of files with several: how many of a file's names are in the table, and how many it had in all.
  private(set) var links: [FileIdentity: LinkCount] = [:]
  /// The searched directories, each after the one above it.
  private(set) var directories: [DirectoryRecord] = []
  /// How many files are in the table.
  private(set) var count = 0

  /// The names of one file.
  struct LinkCount: Sendable, Equatable {
    var inTable: Int
    var everywhere: Int
  }

  subscript(_ index: Int) -> FileRecord { pieces[index / Self.pieceSize][index % Self.pieceSize] }

  /// Adds a file. False when the table is full: 4 GiB of names, or 65,536 devices.
  mutating func append(_ name: UnsafeRawBufferPointer, in directory: UInt32, _ status: FileStatus) -> Bool {
    guard name.count <= 255, let device = device(status.identity.device), let offset = names.append(name) else { return false }
    if pieces.last.map({ $0.count == Self.pieceSize }) ?? true {
      var piece: [FileRecord] = []
      piece.reserveCapacity(Self.pieceSize)
      pieces.append(piece)
    }
    pieces[pieces.count - 1].append(
      FileRecord(
        inode: status.identity.inode, modified: status.modified, size: status.size, directory: directory, nameOffset: offset,
        device: device, nameLength: UInt8(name.count), hasOtherLinks: status.links > 1))
    if status.links > 1 {
      links[status.identity, default: LinkCount(inTable: 0, everywhere: Int(clamping: status.links))].inTable += 1
    }
    count += 1
    return true
  }

  /// Adds a directory and returns its number; nil when the table is full.
  mutating func appendDirectory(_ name: UnsafeRawBufferPointer, parent: UInt32) -> UInt32? {
    guard directories.count < Int(UInt32.max), name.count <= 255, let offset = names.append(name) else { return nil }
    directories.append(
      DirectoryRecord(inode: 0, modified: 0, parent: parent, nameOffset: offset, entries: .max, nameLength: UInt8(name.count)))
    return UInt32(directories.count - 1)
  }

  /// Notes what a directory was when it was opened.
  mutating func setStatus(_ status: FileStatus, ofDirectory index: UInt32) {
    directories[Int(index)].inode = status.identity.inode
    directories[Int(index)].modified = status.modified
  }

  /// Notes how many entries a directory that was listed to its end has.
  mutating func setEntries(_ count: Int, ofDirectory index: UInt32) {
    directories[Int(index)].entries = UInt32(clamping: count)
  }

  /// Notes that an entry of a directory is gone.
  mutating func removeEntry(ofDirectory index: UInt32) {
    let entries = directories[Int(index)].entries
    if entries > 0, entries < .max { directories[Int(index)].entries = entries - 1 }
  }

  /// Which file a record is about.
  func identity(_ record: FileRecord) -> FileIdentity {
    FileIdentity(device: devices[Int(record.device)], inode: record.inode)
  }

  func name(_ record: FileRecord) -> [UInt8] { names.bytes(at: record.nameOffset, length: record.nameLength) }

  func name(_ record: DirectoryRecord) -> [UInt8] { names.bytes(at: record.nameOffset, length: record.nameLength) }

  /// The names that lead from the rule's directory to the directory `index`.
  func path(ofDirectory index: UInt32) -> [[UInt8]] {
    var path: [[UInt8]] = []
    var current = Int(index)
    while current != 0 {
      path.append(name(directories[current]))
      current = Int(directories[current].parent)
    }
    return path.reversed()
  }

  /// A file's path for people: relative to the rule's directory, control bytes and invalid UTF-8 escaped.
  func displayPath(_ record: FileRecord) -> String {
    (path(ofDirectory: record.directory) + [name(record)]).map { DisplayName.escaped($0) }.joined(separator: "/")
  }

  private mutating func device(_ device: UInt64) -> UInt16? {
    if let known = devices.lastIndex(of: device) { return UInt16(known) }
    guard devices.count <= Int(UInt16.max) else { return nil }
    devices.append(device)
    return UInt16(devices.count - 1)
  }
}
