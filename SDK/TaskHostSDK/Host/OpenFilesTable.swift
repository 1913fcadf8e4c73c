import CTaskHost

/// The host's extension `org.taskhost.open-files/1`.
///
/// `@unchecked Sendable`: by contract, an extension's table is read-only and lives as long as the process.
struct OpenFilesTable: @unchecked Sendable {
  private let table: HostFunctions
  private let functions: UnsafePointer<taskhost_open_files>

  /// The most files, and the most bytes of paths, in one question.
  private static let (mostFiles, mostPathBytes) = (Int(TASKHOST_OPEN_FILES_MAXIMUM), Int(TASKHOST_OPEN_FILES_PATH_BYTES))

  /// - Throws: `unsupported` if the host does not offer it.
  init(_ table: HostFunctions) throws(TaskHostError) {
    guard let found = table.api.pointee.extension(TASKHOST_EXTENSION_OPEN_FILES)?.assumingMemoryBound(to: taskhost_open_files.self),
      found.pointee.struct_size >= UInt32(MemoryLayout<taskhost_open_files>.size)
    else {
      throw TaskHostError(
        status: taskhost_status(TASKHOST_EUNSUPPORTED), message: "this host does not report open files: update taskhost")
    }
    self.table = table
    functions = found
  }

  /// Asks about all files, in as many questions as needed.
  func ask(_ files: [FileReference], in directory: String, _ task: taskhost_task) throws(TaskHostError) -> [FileUse] {
    let directory = try CStrings.checked(directory, "the directory")
    var uses: [FileUse] = []
    uses.reserveCapacity(files.count)
    var rest = files[...]
    while !rest.isEmpty {
      var bytes = 0
      let part = rest.prefix(Self.mostFiles).prefix { file in
        bytes += file.path.count
        return bytes <= Self.mostPathBytes
      }
      // The host refuses a single path that is too long.
      let asked = part.isEmpty ? rest.prefix(1) : part
      rest = rest.dropFirst(asked.count)
      uses += try askOnce(asked, directory, task)
    }
    return uses
  }

  private func askOnce(_ files: ArraySlice<FileReference>, _ directory: String, _ task: taskhost_task) throws(TaskHostError) -> [FileUse] {
    // All paths in sequence, each ended by a null byte.
    var text: [CChar] = []
    text.reserveCapacity(files.reduce(files.count) { $0 + $1.path.count })
    for file in files {
      guard !file.path.contains(0) else {
        throw TaskHostError(status: taskhost_status(TASKHOST_EINVAL), message: "a path holds a null byte")
      }
      text.append(contentsOf: file.path.lazy.map { CChar(bitPattern: $0) })
      text.append(0)
    }
    var answers = [UInt8](repeating: 0, count: files.count)
    let status = text.withUnsafeBufferPointer { text -> taskhost_status in
      var offset = 0
      let asked = files.map { file -> taskhost_file in
        defer { offset += file.path.count + 1 }
        return taskhost_file(device: file.device, inode: file.inode, path: text.baseAddress.map { $0 + offset })
      }
      return directory.withCString { functions.pointee.query(task, $0, asked, asked.count, &answers) }
    }
    try table.check(status)
    return answers.map { answer in
      switch Int(answer) {
      case TASKHOST_USE_OPEN: .open
      case TASKHOST_USE_NOT_OPEN: .notOpen
      default: .unknown
      }
    }
  }

  func entitlement(to directory: String, _ launch: taskhost_launch) throws(TaskHostError) -> DirectoryEntitlement {
    let directory = try CStrings.checked(directory, "the directory")
    var bits: UInt32 = 0
    try table.check(directory.withCString { functions.pointee.launch_entitlement(launch, $0, &bits) })
    if bits & UInt32(TASKHOST_ENTITLED_WRITE) != 0 { return .write }
    return bits & UInt32(TASKHOST_ENTITLED_READ) != 0 ? .read : .none
  }
}
