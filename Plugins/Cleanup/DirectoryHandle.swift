internal import CCleanup
internal import Glibc

/// An open directory. Everything below it is reached only through it: by relative names, without symlinks or mount points.
final class DirectoryHandle: OpenDirectory {
  private let descriptor: Descriptor
  let resolution: PathResolution
  /// The directory's status when it was opened.
  let status: FileStatus

  /// The maximum number of bytes of a path to resolve at once; the kernel's limit is 4095.
  private static let longestPath = 3_800

  private init(_ descriptor: consuming Descriptor, _ resolution: PathResolution) throws(SystemError) {
    self.status = try FileStatus(descriptor: descriptor.raw)
    self.descriptor = descriptor
    self.resolution = resolution
  }

  /// Opens a rule's directory by its absolute path. No component may be a symlink; mount points on the way to it are fine.
  ///
  /// - Parameter resolution: nil detects what the kernel supports.
  /// - Throws: ELOOP (or ENOTDIR, stepwise) where a component is a symlink.
  static func open(absolute path: String, resolution: PathResolution? = nil) throws(SystemError) -> DirectoryHandle {
    // Opened as a reference only, because a sandbox may not permit listing it.
    let root = try Descriptor(taskhost_cleanup_open_step(AT_FDCWD, "/", Int32(CLEANUP_OPEN_DIRECTORY)))
    let chosen = resolution ?? probe(root.raw)
    let components = path.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) }
    let opened = try walk(
      from: root.raw, components[...], purpose: CLEANUP_OPEN_DIRECTORY, resolution: chosen, top: nil)
    return try DirectoryHandle(opened, chosen)
  }

  /// Opens the directory at `path` below this one; an empty path is this one again.
  ///
  /// - Throws: ELOOP or ENOTDIR where a component is not a directory or a symlink, EXDEV at a mount point.
  func open(beneath path: [[UInt8]]) throws(SystemError) -> DirectoryHandle {
    let opened = try Self.walk(from: raw, path[...], purpose: CLEANUP_OPEN_DIRECTORY, resolution: resolution, top: status)
    let handle = try DirectoryHandle(opened, resolution)
    guard handle.status.isOnSameMount(as: status) else { throw SystemError(code: EXDEV) }
    return handle
  }

  /// Opens the directory at `path` below `start`, which is this one or below it, to list it; an empty path is `start` again.
  ///
  /// - Throws: As ``open(beneath:)``.
  func list(_ path: [[UInt8]], from start: some OpenDirectory) throws(SystemError) -> DirectoryListing {
    let opened = try Self.walk(from: start.raw, path[...], purpose: CLEANUP_OPEN_DIRECTORY_READ, resolution: resolution, top: status)
    let listing = try DirectoryListing(opened)
    guard listing.status.isOnSameMount(as: status) else { throw SystemError(code: EXDEV) }
    return listing
  }

  var raw: Int32 { descriptor.raw }

  /// Opens the directory that holds `lower`, which is below this one. It must match `expected`, so that the path cannot leave this
  /// directory.
  ///
  /// - Throws: ESTALE if it is a different directory now.
  func open(above lower: some OpenDirectory, expecting expected: FileStatus) throws(SystemError) -> DirectoryHandle {
    let opened = try Descriptor(taskhost_cleanup_open_step(lower.raw, "..", Int32(CLEANUP_OPEN_DIRECTORY)))
    return try found(opened, expected)
  }

  /// Opens the directory `name` in `upper`, which is below this one. It must match `expected`.
  ///
  /// - Throws: As ``open(beneath:)``, and ESTALE if it is a different directory now.
  func open(_ name: [UInt8], in upper: DirectoryHandle, expecting expected: FileStatus) throws(SystemError) -> DirectoryHandle {
    try found(
      try Self.walk(from: upper.raw, [name], purpose: CLEANUP_OPEN_DIRECTORY, resolution: resolution, top: status), expected)
  }

  private func found(_ opened: consuming Descriptor, _ expected: FileStatus) throws(SystemError) -> DirectoryHandle {
    let handle = try DirectoryHandle(opened, resolution)
    guard handle.status.identity == expected.identity, handle.status.isOnSameMount(as: status) else { throw SystemError(code: ESTALE) }
    return handle
  }

  /// Opens a file of this directory to read it, or with `reference` without access to its contents; never through a symlink.
  func openFile(_ name: [UInt8], reference: Bool) throws(SystemError) -> Descriptor {
    try Self.walk(
      from: descriptor.raw, [name], purpose: reference ? CLEANUP_OPEN_FILE : CLEANUP_OPEN_FILE_READ, resolution: resolution, top: status)
  }

  /// Removes the name of a non-directory, without following it.
  func unlink(_ name: UnsafePointer<CChar>) throws(SystemError) {
    guard unlinkat(descriptor.raw, name, 0) == 0 else { throw .last }
  }

  func removeDirectory(_ name: UnsafePointer<CChar>) throws(SystemError) {
    guard unlinkat(descriptor.raw, name, AT_REMOVEDIR) == 0 else { throw .last }
  }

  /// Why this process cannot remove a file of this directory that `owner` owns; nil if no reason is known.
  func obstacle(toRemovingFileOf owner: UInt32) -> SystemError? {
    if status.isGuarded { return SystemError(code: EPERM) }
    let result = taskhost_cleanup_can_change(descriptor.raw)
    if result < 0 { return SystemError(code: -result) }
    let user = geteuid()
    let isForeign = status.isSticky && owner != user && status.owner != user
    return isForeign && taskhost_cleanup_overrides_owners() == 0 ? SystemError(code: EPERM) : nil
  }

  /// Follows `components` from `start`, in as few system calls as the path limit permits. Stays on the mount of `top`; nil allows any.
  private static func walk(
    from start: Int32, _ components: ArraySlice<[UInt8]>, purpose: Int, resolution: PathResolution, top: FileStatus?
  ) throws(SystemError) -> Descriptor {
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
          ? taskhost_cleanup_open_beneath(from, pointer, wanted, top == nil ? 1 : 0)
          : taskhost_cleanup_open_step(from, pointer, wanted)
      }
      let opened = try Descriptor(result)
      if resolution == .stepwise, let top, try !FileStatus(descriptor: opened.raw).isOnSameMount(as: top) {
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

  /// Checks once whether the kernel has openat2; some seccomp filters return EPERM instead of the kernel's ENOSYS.
  private static func probe(_ directory: Int32) -> PathResolution {
    let result = taskhost_cleanup_open_beneath(directory, ".", Int32(CLEANUP_OPEN_DIRECTORY), 0)
    if result >= 0 { close(result) }
    return result == -ENOSYS || result == -EPERM || result == -EINVAL || result == -E2BIG ? .stepwise : .kernel
  }

  /// Lends `bytes` followed by a null byte; a name that contains one is invalid.
  private static func withCString<Result>(
    _ bytes: [UInt8], _ body: (UnsafePointer<CChar>) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    guard !bytes.contains(0) else { throw SystemError(code: EINVAL) }
    return try (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { (buffer) throws(SystemError) in
      guard let start = buffer.baseAddress else { throw SystemError(code: EINVAL) }
      return try body(start)
    }
  }
}

/// A directory that stays open while this object lives.
protocol OpenDirectory: AnyObject {
  /// Borrowed: callers must not close it.
  var raw: Int32 { get }
}

extension OpenDirectory {
  /// The current status of the entry at `path`, relative to this directory. A final symlink is not followed, but earlier ones are: compare
  /// the result with the expected status.
  func status(of path: UnsafePointer<CChar>) throws(SystemError) -> FileStatus { try FileStatus(directory: raw, name: path) }
}

enum PathResolution: Sendable, CaseIterable {
  /// openat2(2): the kernel itself refuses symlinks, mount points and escapes from the directory. Linux 5.6 and later.
  case kernel
  /// One openat(2) per component with O_NOFOLLOW, comparing devices and mounts; used if openat2 is missing or forbidden by a seccomp
  /// filter.
  case stepwise
}
