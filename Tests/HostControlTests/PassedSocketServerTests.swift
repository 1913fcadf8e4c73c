import ControlTestSupport
import Glibc
import HostControl
import HostThreads
import Testing

/// A control socket that stays while servers come and go.
@Suite("Servers on a passed socket", .timeLimit(.minutes(2))) struct PassedSocketServerTests {
  @Test("who connects while one server ends and the next one begins is answered, by one of them")
  func restarts() async throws {
    let host = MemoryHost()
    try await ControlFixture.withDirectory { directory in
      let path = directory + "/control.sock"
      let listener = try Self.listener(at: path)
      defer { close(listener) }
      let isOver = Guarded(false)
      @Sendable func ask() async throws {
        let status = try await HTTPTestClient(socket: path).send("GET", "/v1/status").status
        #expect(status == 200)
      }
      @Sendable func serve(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await ControlFixture.serve(host, on: ControlSocket(path: path, mode: 0o600), passed: dup(listener), body)
      }
      let clients = (0..<4).map { _ in Task { while !isOver.withLock({ $0 }) { try await ask() } } }
      for _ in 0..<50 { try await serve { try await ask() } }
      try await serve {
        isOver.withLock { $0 = true }
        for client in clients { try await client.value }
      }
    }
  }

  private static func listener(at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    try #require(isBound == 0 && listen(descriptor, 100) == 0)
    return descriptor
  }
}
