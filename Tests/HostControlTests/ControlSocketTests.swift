import ControlTestSupport
import Foundation
import Glibc
import HostControl
import HostThreads
import Testing

@Suite("Control socket") struct ControlSocketTests {
  private static func mode(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  /// Leaves a socket file that nobody listens on.
  private static func leaveStaleSocket(at path: String) throws {
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    try #require(bound == 0)
  }

  @Test(
    "it has the mode that was asked for, nothing else is left beside it, and it is removed at the end", arguments: [0o600, 0o660, 0o666])
  func mode(_ mode: UInt32) async throws {
    try await ControlFixture.withDirectory { directory in
      let path = "\(directory)/c.sock"
      try await ControlFixture.serve(MemoryHost(), on: ControlSocket(path: path, mode: mode)) {
        let found = try Self.mode(of: path)
        #expect(found == Int(mode))
        #expect(SocketFile.state(of: path) == .live)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  @Test("a socket that nobody answers on is replaced")
  func stale() async throws {
    try await ControlFixture.withDirectory { directory in
      let path = "\(directory)/c.sock"
      try Self.leaveStaleSocket(at: path)
      #expect(SocketFile.state(of: path) == .stale)
      try await ControlFixture.serve(MemoryHost(), on: ControlSocket(path: path)) {
        let answer = try await HTTPTestClient(socket: path).send("GET", "/healthz")
        #expect(answer.status == 200)
      }
      #expect(SocketFile.state(of: path) == .absent)
    }
  }

  @Test("what a host left beside its socket that was killed is removed, and nothing else")
  func left() async throws {
    try await ControlFixture.withDirectory { directory in
      func make(_ name: String, mode: mode_t = 0o700, sockets: [String] = ["s"]) throws {
        try #require(mkdir("\(directory)/\(name)", mode) == 0 && chmod("\(directory)/\(name)", mode) == 0)
        for socket in sockets { try Self.leaveStaleSocket(at: "\(directory)/\(name)/\(socket)") }
      }
      try make(".taskhost-AAAAAA")
      try make(".taskhost-BBBBBB", sockets: ["s", "p"])
      try make(".taskhost-CCCCCC", mode: 0o755)
      try make(".taskhost-DDDDDD", sockets: [])
      try make(".taskhost-EEEEEE", sockets: ["s", "mine"])
      try make(".taskhost-FFFFFF", sockets: ["p"])
      try make(".taskhost-GGGGGG", sockets: [])
      try Data("mine".utf8).write(to: URL(filePath: "\(directory)/.taskhost-GGGGGG/s"))
      try make("other-AAAAAA")
      // A live one of a version that locks nothing.
      try make(".taskhost-LLLLLL", sockets: [])
      let live = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(live) }
      try StaleSocket.bind(live, to: "\(directory)/.taskhost-LLLLLL/s")
      try #require(listen(live, 8) == 0)
      try await ControlFixture.serve(MemoryHost(), on: ControlSocket(path: "\(directory)/one.sock")) {
        // The second one leaves the first one's alone, and the other way round.
        try await ControlFixture.serve(MemoryHost(), on: ControlSocket(path: "\(directory)/two.sock")) {
          unlink("\(directory)/one.sock")
          let own = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasPrefix(".taskhost-") }
          #expect(own.count == 8)
        }
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
      let kept = ["C", "D", "E", "F", "G", "L"].map { ".taskhost-" + String(repeating: $0, count: 6) }
      #expect(names == (kept + ["other-AAAAAA"]).sorted())
    }
  }

  @Test("a socket that a host answers on is left to it")
  func live() async throws {
    try await ControlFixture.with(MemoryHost()) { fixture in
      let path = fixture.socket
      let error = await #expect(throws: ControlSocketError.self) {
        try await ControlFixture.serve(MemoryHost(), on: ControlSocket(path: path)) {}
      }
      #expect(error?.problem == .inUse)
      #expect(error?.description.contains("another host answers on \(path)") == true)
      let answer = try await HTTPTestClient(socket: path).send("GET", "/healthz")
      #expect(answer.status == 200)
    }
  }

  @Test("a file that is not a socket is left alone")
  func file() async throws {
    try await ControlFixture.withDirectory { directory in
      let path = "\(directory)/c.sock"
      try Data("mine".utf8).write(to: URL(filePath: path))
      let error = await #expect(throws: ControlSocketError.self) {
        try await ControlFixture.serve(MemoryHost(), on: ControlSocket(path: path)) {}
      }
      #expect(error?.problem == .notASocket)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }
  }

  @Test("a path of 107 bytes is served, one of 108 is refused with its length")
  func length() async throws {
    try await ControlFixture.withDirectory { directory in
      let path = directory + "/" + String(repeating: "x", count: 107 - directory.utf8.count - 1)
      try await ControlFixture.serve(MemoryHost(), on: ControlSocket(path: path)) {
        #expect(SocketFile.state(of: path) == .live)
      }
      let error = await #expect(throws: ControlSocketError.self) {
        try await ControlFixture.serve(MemoryHost(), on: ControlSocket(path: path + "x")) {}
      }
      #expect(error?.problem == .pathTooLong(108))
    }
  }

  @Test("a directory that is not there and a group that is not there are named")
  func missing() async throws {
    await #expect(throws: ControlSocketError.self) {
      try await ControlFixture.serve(MemoryHost(), on: ControlSocket(path: "/tmp/taskhost-no-such-directory/c.sock")) {}
    }
    try await ControlFixture.withDirectory { directory in
      let error = await #expect(throws: ControlSocketError.self) {
        let socket = ControlSocket(path: "\(directory)/c.sock", group: "no-such-group-here")
        try await ControlFixture.serve(MemoryHost(), on: socket) {}
      }
      #expect(error?.problem == .noSuchGroup("no-such-group-here"))
      let left = try FileManager.default.contentsOfDirectory(atPath: directory)
      #expect(left == [])
    }
  }
}
