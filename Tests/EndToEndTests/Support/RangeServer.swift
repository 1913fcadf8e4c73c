import Foundation
import Glibc
import TestSupport
import Testing

/// The server `range_server.py`.
final class RangeServer: Sendable {
  struct Entry: Decodable {
    let method: String
    let path: String
    let headers: [String: String]
    /// Bytes.
    let body: Int
  }

  let address: String
  private let program: Program

  private init(_ program: Program, scheme: String, port: String) {
    self.program = program
    address = "\(scheme)://127.0.0.1:\(port)"
  }

  /// - Parameter tls: The paths of a certificate and its key, and `old` for an old version; empty for plain HTTP. Over TLS, only
  ///   ``address`` can be used.
  static func start(tls: [String] = []) async throws -> RangeServer {
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Fixtures/Servers/range_server.py").path
    let (ports, told) = AsyncStream.makeStream(of: String.self)
    let program = try Program("/usr/bin/python3", ["-W", "ignore", script] + tls, onErrorLine: { told.yield($0) })
    for await line in ports { return RangeServer(program, scheme: tls.isEmpty ? "http" : "https", port: line) }
    throw TestFailure("the server told no port")
  }

  func stop() async {
    program.send(SIGKILL)
    _ = try? await program.result()
  }

  /// The URL of a file whose n-th request gets exactly the n-th of these answers.
  func answering(_ name: String, _ replies: String...) -> String { answering(name, replies) }

  func answering(_ name: String, _ replies: [String]) -> String {
    let plain = CharacterSet.alphanumerics
    let query = replies.map { "raw=" + ($0.addingPercentEncoding(withAllowedCharacters: plain) ?? "") }
    return "\(address)/\(name)?" + query.joined(separator: "&")
  }

  /// The requests of a file.
  func requests(_ name: String) async throws -> [Entry] {
    try await log().filter { $0.path == "/\(name)" || $0.path.hasPrefix("/\(name)?") }
  }

  /// Returns once a file was asked for so many times.
  func waitForRequests(_ name: String, _ count: Int) async throws {
    let data = try await get("/count/\(name)?of=\(count)")
    #expect(String(decoding: data, as: UTF8.self) == "yes", "\(name) was not asked for \(count) times")
  }

  /// The body of an answer. No proxy of the environment is asked.
  func get(_ path: String) async throws -> Data {
    let port = try #require(UInt16(address.split(separator: ":").last ?? ""))
    return try await onThread {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      guard descriptor >= 0 else { throw TestFailure("socket: errno \(errno)") }
      defer { close(descriptor) }
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = port.bigEndian
      place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let code = withUnsafePointer(to: &place) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
      }
      guard code == 0 else { throw TestFailure("connect: errno \(errno)") }
      let request = Array("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8)
      guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { throw TestFailure("send") }
      var all = Data()
      try Channel.readAll(descriptor) { all.append(contentsOf: $0) }
      let head = try #require(all.range(of: Data("\r\n\r\n".utf8)))
      return all[head.upperBound...]
    }
  }

  func log() async throws -> [Entry] { try JSONDecoder().decode([Entry].self, from: Data(try await get("/log"))) }
}
