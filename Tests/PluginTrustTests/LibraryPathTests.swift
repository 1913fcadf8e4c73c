import PluginTrust
import Testing

@Suite("Library paths of a plugin") struct LibraryPathTests {
  private static let toolchain = "/opt/toolchain/lib/swift"

  @Test(
    "search paths in system and Swift directories, and $ORIGIN, are taken",
    arguments: [
      "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/local/lib/", "$ORIGIN", "\(toolchain)/linux", "$ORIGIN:\(toolchain)",
      "/usr/./lib//deep",
    ], ["--enable-new-dtags", "--disable-new-dtags"])
  func trusted(_ path: String, _ tags: String) throws {
    let directory = try PluginDirectory()
    try directory.compile(SamplePlugin.source, to: "lib.so", flags: ["-Wl,\(tags),-rpath,\(path)"])
    let scan = try directory.scan(PluginTrustPolicy(trustedLibraryDirectories: [Self.toolchain]))
    #expect(scan.acceptedNames == ["lib.so"], "\(scan.refused)")
    #expect(scan.accepted.first?.elf.searchPath == path.split(separator: ":").map(String.init))
  }

  @Test(
    "other search paths are refused",
    arguments: [
      "/tmp", "/usr/library", "/usr", "lib", ".", "/usr/lib/../../tmp", "$ORIGIN/..", "${ORIGIN}", "/usr/$LIB", "/usr/lib:/home/x",
      "/usr/lib::/lib",
      toolchain + "2", "/usr/lib/\u{600}:/tmp/x", "/usr/lib/\u{600}/../../tmp",
    ], ["--enable-new-dtags", "--disable-new-dtags"])
  func untrusted(_ path: String, _ tags: String) throws {
    let directory = try PluginDirectory()
    try directory.compile(SamplePlugin.source, to: "lib.so", flags: ["-Wl,\(tags),-rpath,\(path)"])
    let scan = try directory.scan(PluginTrustPolicy(trustedLibraryDirectories: [Self.toolchain]))
    #expect(scan.refusals == ["lib.so": .libraryPath], "\(path)")
  }

  @Test("a library needed by a path of its own is refused, by its name taken")
  func neededByPath() throws {
    let directory = try PluginDirectory()
    try directory.compile("int helper(void) { return 1; }", to: "helper.o.so", flags: ["-Wl,-soname,/tmp/evil/libhelper.so"])
    try directory.compile("int helper(void) { return 1; }", to: "named.o.so", flags: ["-Wl,-soname,libhelper.so.1"])
    try directory.compile("int helper(void) { return 1; }", to: "joined.o.so", flags: ["-Wl,-soname,a\u{600}/libhelper.so"])
    let source = SamplePlugin.source + " int helper(void); int use(void) { return helper(); }"
    try directory.compile(source, to: "libByPath.so", flags: [directory.file("helper.o.so")])
    try directory.compile(source, to: "libByName.so", flags: [directory.file("named.o.so")])
    try directory.compile(source, to: "libJoined.so", flags: [directory.file("joined.o.so")])
    let scan = try directory.scan()
    #expect(scan.acceptedNames == ["libByName.so"])
    // Unicode makes one character of U+0600 and what follows, the loader does not.
    #expect(scan.refusals["libJoined.so"] == .libraryPath)
    #expect(scan.accepted.first?.elf.libraries.first == "libhelper.so.1")
    #expect(scan.refusals["libByPath.so"] == .libraryPath)
  }
}
