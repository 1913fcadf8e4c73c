import ControlTestSupport
import Glibc
import Testing

@testable import TaskHostClient
@testable import taskhost

@Suite("A connection to a host") struct ControlConnectionTests {
  // When reads were limited to whole seconds, this ended after a millisecond.
  @Test("an answer is awaited for the whole timeout, also for parts of a second")
  func timeout() async throws {
    try await ControlFixture.withDirectory { directory in
      let path = "\(directory)/silent.sock"
      let listener = try Self.listener(at: path)
      defer { close(listener) }
      let connection = try ControlConnection(to: .socket(path), timeout: .seconds(10))
      try connection.send("GET", "/v1/status", nil)
      let begin = ContinuousClock.now
      do {
        _ = try connection.answer(timeout: .milliseconds(300)) { _, _ in true }
        Issue.record("a host that is silent has answered")
      } catch { #expect("\(error)" == "no answer came in time") }
      #expect(ContinuousClock.now - begin >= .milliseconds(300))
    }
  }

  /// A socket that takes connections and requests, and never answers.
  private static func listener(at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try #require(descriptor >= 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    try #require(bound == 0)
    try #require(listen(descriptor, 1) == 0)
    return descriptor
  }
}
