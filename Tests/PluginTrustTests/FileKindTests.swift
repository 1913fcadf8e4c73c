import Glibc
import PluginTrust
import Testing

@Suite("Kinds of file") struct FileKindTests {
  @Test("a FIFO, socket, directory or device named .so is refused without waiting on it")
  func special() throws {
    let directory = try PluginDirectory()
    try directory.compile(SamplePlugin.source, to: "good.so")
    try #require(mkfifo(directory.file("fifo.so"), 0o644) == 0)
    try #require(mkdir(directory.file("directory.so"), 0o755) == 0)
    try bindSocket(directory.file("socket.so"))
    var expected: [String: PluginRefusal.Code] = ["fifo.so": .notRegular, "directory.so": .notRegular, "socket.so": .notRegular]
    // Making a device takes root, and a system that lets it.
    if mknod(directory.file("device.so"), S_IFCHR | 0o644, dev_t(0x103)) == 0 { expected["device.so"] = .notRegular }

    let scan = try directory.scan()

    #expect(scan.acceptedNames == ["good.so"])
    #expect(scan.refusals == expected)
  }

  @Test("a sparse file of 8 GiB is refused unread")
  func sparse() throws {
    let directory = try PluginDirectory()
    try directory.write(try SamplePlugin.bytes.get(), to: "huge.so")
    try #require(truncate(directory.file("huge.so"), 8 << 30) == 0)
    #expect(try directory.scan().refusals == ["huge.so": .tooBig])
  }

  @Test("the size limit is the policy's, to the byte")
  func limit() throws {
    let directory = try PluginDirectory()
    let bytes = try SamplePlugin.bytes.get()
    try directory.write(bytes, to: "lib.so")
    #expect(try directory.scan(PluginTrustPolicy(maximumSize: UInt64(bytes.count))).acceptedNames == ["lib.so"])
    #expect(try directory.scan(PluginTrustPolicy(maximumSize: UInt64(bytes.count - 1))).refusals == ["lib.so": .tooBig])
  }

  @Test("symbolic links are refused: to a plugin, dangling, looping")
  func links() throws {
    let directory = try PluginDirectory()
    try directory.compile(SamplePlugin.source, to: "good.so")
    try #require(symlink("good.so", directory.file("link.so")) == 0)
    try #require(symlink("nowhere", directory.file("dangling.so")) == 0)
    try #require(symlink("loop.so", directory.file("loop.so")) == 0)
    let scan = try directory.scan()
    #expect(scan.acceptedNames == ["good.so"])
    #expect(scan.refusals == ["link.so": .symbolicLink, "dangling.so": .symbolicLink, "loop.so": .symbolicLink])
  }

  @Test("a hard link is refused, naming the first; a copy is taken")
  func hardLink() throws {
    let directory = try PluginDirectory()
    let first = try directory.compile(SamplePlugin.source, to: "a.so")
    try #require(link(first, directory.file("b.so")) == 0)
    try directory.write(try SamplePlugin.read(first), to: "c.so")
    let scan = try directory.scan()
    #expect(scan.acceptedNames == ["a.so", "c.so"])
    #expect(scan.refusals == ["b.so": .sameFile])
    #expect(scan.refused.first?.observed.contains(first) == true)
  }

  @Test("a hard link in another directory is refused too")
  func hardLinkAcross() throws {
    let (one, two) = (try PluginDirectory(), try PluginDirectory())
    let first = try one.compile(SamplePlugin.source, to: "z.so")
    try #require(link(first, two.file("a.so")) == 0)
    let scan = try PluginDirectoryScan(directories: [one.path, two.path])
    #expect(scan.accepted.map(\.path) == [first])
    #expect(scan.refusals == ["a.so": .sameFile])
  }

  private func bindSocket(_ path: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    try #require(result == 0)
  }
}
