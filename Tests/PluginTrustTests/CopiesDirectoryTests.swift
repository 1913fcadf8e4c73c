import Glibc
import PluginTrust
import Testing

@Suite("The directory of private copies") struct CopiesDirectoryTests {
  @Test(
    "it is made with mode 0700, whatever the umask, and an existing one is closed to others", arguments: [nil, 0o755, 0o700] as [mode_t?])
  func made(_ mode: mode_t?) throws {
    let state = try PluginDirectory()
    if let mode { try #require(mkdir(state.file("copies"), mode) == 0) }
    let copies = try PluginCopies(directory: state.file("copies"))
    #expect(copies.directory == state.file("copies"))
    #expect(try CopyFixture.info(copies.directory).st_mode == S_IFDIR | 0o700)
  }

  @Test("one that others may write is refused: what is in it may be theirs", arguments: [0o777, 0o1777, 0o770] as [mode_t])
  func writable(_ mode: mode_t) throws {
    let state = try PluginDirectory()
    try #require(mkdir(state.file("copies"), 0o700) == 0 && chmod(state.file("copies"), mode) == 0)
    let error = #expect(throws: PluginDirectoryError.self) { try PluginCopies(directory: state.file("copies")) }
    #expect(error?.description.hasPrefix(state.file("copies")) == true)
    #expect(error?.remedy == "Run: chmod go-w '\(state.file("copies"))'.")
  }

  @Test("one below a directory that others may write is refused")
  func ancestor() throws {
    let state = try PluginDirectory()
    try #require(chmod(state.path, 0o777) == 0)
    #expect(throws: PluginDirectoryError.self) { try PluginCopies(directory: state.file("copies")) }
  }

  @Test("one of another user is refused", .enabled(if: geteuid() == 0))
  func owner() throws {
    let state = try PluginDirectory()
    try #require(mkdir(state.file("copies"), 0o700) == 0 && chown(state.file("copies"), 54_321, 0) == 0)
    #expect(throws: PluginDirectoryError.self) { try PluginCopies(directory: state.file("copies")) }
  }

  @Test("a file in its place, and a missing directory above it, are errors that say so")
  func unusable() throws {
    let state = try PluginDirectory()
    try state.write([], to: "copies")
    let file = #expect(throws: PluginDirectoryError.self) { try PluginCopies(directory: state.file("copies")) }
    #expect(file?.observed.contains("Not a directory") == true)
    let missing = #expect(throws: PluginDirectoryError.self) { try PluginCopies(directory: state.file("none/copies")) }
    #expect(missing?.observed.contains("No such file or directory") == true)
  }

  /// Whether the shared memory's file system is mounted noexec, as containers have it.
  private static let sharedMemoryIsNoExec: Bool = {
    var system = statvfs()
    return statvfs("/dev/shm", &system) == 0 && system.f_flag & 8 != 0
  }()

  @Test("one from which nothing can be loaded is refused before any plugin is", .enabled(if: sharedMemoryIsNoExec))
  func noExec() throws {
    let path = "/dev/shm/plugin-trust-\(UInt64.random(in: 0 ... .max))"
    defer { rmdir(path) }
    let error = #expect(throws: PluginDirectoryError.self) { try PluginCopies(directory: path) }
    #expect(error?.observed.contains("noexec") == true)
  }
}
