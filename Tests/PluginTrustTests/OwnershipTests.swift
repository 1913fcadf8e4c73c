import Glibc
import PluginTrust
import Testing

@Suite("Ownership and permissions") struct OwnershipTests {
  /// A user that is neither root nor the one who runs the tests.
  private static let stranger: UInt32 = geteuid() == 54_321 ? 54_322 : 54_321

  @Test("a file that group or others may write is refused", arguments: [0o664, 0o646, 0o666, 0o777] as [mode_t])
  func fileMode(_ mode: mode_t) throws {
    let directory = try PluginDirectory()
    try directory.write(try SamplePlugin.bytes.get(), to: "bad.so", mode: mode)
    try directory.write(try SamplePlugin.bytes.get(), to: "good.so", mode: 0o644)
    let scan = try directory.scan()
    #expect(scan.acceptedNames == ["good.so"])
    #expect(scan.refusals == ["bad.so": .writableByOthers])
    #expect(scan.refused.first?.remedy == "Run: chmod go-w '\(directory.file("bad.so"))'.")
  }

  @Test("files in a directory that group or others may write are refused, sticky or not", arguments: [0o775, 0o757, 0o1777] as [mode_t])
  func directoryMode(_ mode: mode_t) throws {
    let directory = try PluginDirectory()
    try directory.write(try SamplePlugin.bytes.get(), to: "lib.so")
    #expect(try directory.scan().acceptedNames == ["lib.so"])
    try #require(chmod(directory.path, mode) == 0)
    #expect(try directory.scan().refusals == ["lib.so": .writableByOthers])
  }

  @Test("files below an ancestor that others may write are refused, unless it is sticky")
  func ancestorMode() throws {
    let outer = try PluginDirectory()
    try #require(mkdir(outer.file("plugins"), 0o755) == 0)
    try outer.write(try SamplePlugin.bytes.get(), to: "plugins/lib.so")
    let path = outer.file("plugins")
    try #require(chmod(outer.path, 0o777) == 0)
    let refused = try PluginDirectoryScan(directories: [path])
    #expect(refused.refusals == ["lib.so": .writableByOthers])
    #expect(refused.refused.first?.observed.contains(outer.path) == true)
    try #require(chmod(outer.path, 0o1777) == 0)
    #expect(try PluginDirectoryScan(directories: [path]).acceptedNames == ["lib.so"])
  }

  @Test("a link on the way to the directory is followed, and the directory it lies in must be trusted too")
  func linkedDirectory() throws {
    let (real, other) = (try PluginDirectory(), try PluginDirectory())
    try real.write(try SamplePlugin.bytes.get(), to: "lib.so")
    try #require(symlink(real.path, other.file("plugins")) == 0)
    let scan = try PluginDirectoryScan(directories: [other.file("plugins")])
    #expect(scan.accepted.map(\.path) == [real.file("lib.so")])
    try #require(chmod(other.path, 0o777) == 0)
    #expect(try PluginDirectoryScan(directories: [other.file("plugins")]).refusals == ["lib.so": .writableByOthers])
  }

  @Test("a file of another user is refused, of root or the host's user taken", .enabled(if: geteuid() == 0))
  func fileOwner() throws {
    let directory = try PluginDirectory()
    for name in ["root.so", "stranger.so"] { try directory.write(try SamplePlugin.bytes.get(), to: name) }
    try #require(chown(directory.file("stranger.so"), Self.stranger, 0) == 0)
    let asRoot = try directory.scan()
    #expect(asRoot.acceptedNames == ["root.so"])
    #expect(asRoot.refusals == ["stranger.so": .wrongOwner])
    #expect(try directory.scan(PluginTrustPolicy(user: Self.stranger)).acceptedNames == ["root.so", "stranger.so"])
  }

  @Test("files in another user's directory, or below one, are refused", .enabled(if: geteuid() == 0))
  func directoryOwner() throws {
    let outer = try PluginDirectory()
    try #require(mkdir(outer.file("plugins"), 0o755) == 0)
    try outer.write(try SamplePlugin.bytes.get(), to: "plugins/lib.so")
    let path = outer.file("plugins")
    #expect(try PluginDirectoryScan(directories: [path]).acceptedNames == ["lib.so"])
    for changed in [path, outer.path] {
      try #require(chown(changed, Self.stranger, 0) == 0)
      #expect(try PluginDirectoryScan(directories: [path]).refusals == ["lib.so": .wrongOwner])
      let asStranger = try PluginDirectoryScan(directories: [path], policy: PluginTrustPolicy(user: Self.stranger))
      #expect(asStranger.acceptedNames == ["lib.so"])
      try #require(chown(changed, 0, 0) == 0)
    }
  }
}
