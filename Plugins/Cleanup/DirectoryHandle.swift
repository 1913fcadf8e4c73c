internal import CCleanup
internal import Glibc

/// An open directory, and the only way by which anything below it is reached: by relative names, through no symlink, across no mount point.
struct DirectoryHandle: ~Copyable {
  private let descriptor: Descriptor
  let resolution: PathResolution
  /// What the directory was when it was opened.
  let status: FileStatus

  /// How many bytes of a path are resolved at once; the kernel takes at most 4095.
  private static let longestPath = 3_800

  private init(_ descriptor: consuming Descriptor, _ resolution: PathResolution) throws(SystemError) {
    self.status = try FileStatus(descriptor: descriptor.raw)
    self.descriptor = descriptor
    self.resolution = resolution
  }

  /// Opens a rule's directory by its absolute path. No component may be a symlink; mount points on the way to it are fine.
  ///
  /// - Parameter resolution: nil finds out what the kernel can do.
  /// - Throws: ELOOP (or ENOTDIR, stepwise) where a component is a symlink.
  static func open(absolute path: String, resolution: PathResolution? = nil) throws(SystemError) -> DirectoryHandle {
    // As a reference only: a sandbox need not permit to list it.
    let root = try Descriptor(taskhost_cleanup_open_step(AT_FDCWD, "/", Int32(CLEANUP_OPEN_DIRECTORY)))
    let chosen = resolution ?? probe(root.raw)
    let components = path.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) }
    let opened = try walk(
      from: root.raw, components[...], purpose: CLEANUP_OPEN_DIRECTORY, resolution: chosen, mayCrossMounts: true)
    return try DirectoryHandle(opened, chosen)
  }

  /// Opens the directory at `path` below this one; an empty path is this one again.
  ///
  /// - Throws: ELOOP or ENOTDIR where a component is no directory or a symlink, EXDEV at a mount point.
  func open(beneath path: [[UInt8]], toList: Bool = false) throws(SystemError) -> DirectoryHandle {
    let purpose = toList ? CLEANUP_OPEN_DIRECTORY_READ : CLEANUP_OPEN_DIRECTORY
    let opened = try Self.walk(
      from: descriptor.raw, path[...], purpose: purpose, resolution: resolution, mayCrossMounts: false)
    let handle = try DirectoryHandle(opened, resolution)
    // A btrfs subvolume is no mount point, but a file system of its own all the same.
    guard handle.status.identity.device == status.identity.device else { throw SystemError(code: EXDEV) }
    return handle
  }

  /// Opens a file of this directory, to read or (`reference`) without any access to its contents; never through a symlink.
  func openFile(_ name: [UInt8], reference: Bool) throws(SystemError) -> Descriptor {
    try Self.walk(
      from: descriptor.raw, [name], purpose: reference ? CLEANUP_OPEN_FILE : CLEANUP_OPEN_FILE_READ, resolution: resolution,
      mayCrossMounts: false)
  }

  /// What the entry `name` is now; a symlink is itself.
  func status(of name: [UInt8]) throws(SystemError) -> FileStatus {
    try Self.withCString(name) { pointer throws(SystemError) in try FileStatus(directory: descriptor.raw, name: pointer) }
  }

  /// As ``status(of:)``, for a name from a listing.
  func status(of name: UnsafePointer<CChar>) throws(SystemError) -> FileStatus {
    try FileStatus(directory: descriptor.raw, name: name)
  }

  /// Removes the name of something that is no directory, without following it.
  func unlink(_ name: [UInt8]) throws(SystemError) {
    try Self.withCString(name) { pointer throws(SystemError) in
      guard unlinkat(descriptor.raw, pointer, 0) == 0 else { throw .last }
    }
  }

  /// Removes an empty directory.
  func removeDirectory(_ name: [UInt8]) throws(SystemError) {
    try Self.withCString(name) { pointer throws(SystemError) in
      guard unlinkat(descriptor.raw, pointer, AT_REMOVEDIR) == 0 else { throw .last }
    }
  }

  /// Calls `body` for each entry except `.` and `..`, until it returns false. The handle must have been opened to list.
  ///
  /// - Parameter body: Gets the name, borrowed and null-terminated, its length, and its type as in `d_type`.
  func forEachEntry(_ body: (UnsafePointer<CChar>, Int, Int32) throws(SystemError) -> Bool) throws(SystemError) {
    let copy = fcntl(descriptor.raw, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw .last }
    guard let stream = fdopendir(copy) else {
      let error = SystemError.last
      close(copy)
      throw error
    }
    defer { closedir(stream) }
    rewinddir(stream)
    guard let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) else { throw SystemError(code: ENOTSUP) }
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw .last }
        return
      }
      let name = UnsafeRawPointer(entry).advanced(by: nameOffset).assumingMemoryBound(to: CChar.self)
      let length = strlen(name)
      if name[0] == 0x2E, length == 1 || (length == 2 && name[1] == 0x2E) { continue }
      guard try body(name, length, Int32(entry.pointee.d_type)) else { return }
    }
  }

  /// Follows `components` from `start`, in as few system calls as the length of a path permits.
  private static func walk(
    from start: Int32, _ components: ArraySlice<[UInt8]>, purpose: Int, resolution: PathResolution, mayCrossMounts: Bool
  ) throws(SystemError) -> Descriptor {
    let device = try FileStatus(descriptor: start).identity.device
    var rest = components
    if rest.isEmpty { rest = [[0x2E]] }
    var current: Descriptor?
    while true {
      let from: Int32
      switch current {
      case .some(let descriptor): from = descriptor.raw
      case .none: from = start
      }
      let count = resolution == .kernel ? stretch(rest) : 1
      let isLast = count == rest.count
      let path = Array(rest.prefix(count).joined(separator: [UInt8(ascii: "/")]))
      rest = rest.dropFirst(count)
      let wanted = Int32(isLast ? purpose : CLEANUP_OPEN_DIRECTORY)
      let result = try withCString(path) { pointer throws(SystemError) in
        resolution == .kernel
          ? taskhost_cleanup_open_beneath(from, pointer, wanted, mayCrossMounts ? 1 : 0)
          : taskhost_cleanup_open_step(from, pointer, wanted)
      }
      let opened = try Descriptor(result)
      if resolution == .stepwise, !mayCrossMounts, try FileStatus(descriptor: opened.raw).identity.device != device {
        throw SystemError(code: EXDEV)
      }
      if isLast { return opened }
      current = consume opened
    }
  }

  /// How many leading components fit into one path.
  private static func stretch(_ components: ArraySlice<[UInt8]>) -> Int {
    var length = 0
    var count = 0
    for component in components {
      length += component.count + 1
      if count > 0, length > longestPath { break }
      count += 1
    }
    return count
  }

  /// Asks the kernel once for openat2; some seccomp filters answer EPERM where the kernel would say ENOSYS.
  private static func probe(_ directory: Int32) -> PathResolution {
    let result = taskhost_cleanup_open_beneath(directory, ".", Int32(CLEANUP_OPEN_DIRECTORY), 0)
    if result >= 0 { close(result) }
    return result == -ENOSYS || result == -EPERM || result == -EINVAL || result == -E2BIG ? .stepwise : .kernel
  }

  /// Lends `bytes` with a null byte after them; a name that holds one itself names nothing.
  private static func withCString<Result>(
    _ bytes: [UInt8], _ body: (UnsafePointer<CChar>) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    guard !bytes.contains(0) else { throw SystemError(code: EINVAL) }
    let text = bytes.map { CChar(bitPattern: $0) } + [0]
    do {
      return try text.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress else { throw SystemError(code: EINVAL) }
        return try body(start)
      }
    } catch let error as SystemError {
      throw error
    } catch {
      throw SystemError(code: EINVAL)
    }
  }
}
