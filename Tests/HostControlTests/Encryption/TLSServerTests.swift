import ControlTestSupport
import Foundation
import HTTPTransfer
import NIOCore
import StrictText
import Synchronization
import TestSupport
import Testing

@testable import HostControl

@Suite("TLS over TCP") struct TLSServerTests {
  private let log = RecordedLog()

  /// Runs `body` with a server that speaks TLS, and the authority that made its certificate.
  private func serve(
    _ host: MemoryHost = MemoryHost(), patience: ClientPatience = ClientPatience(),
    _ body: @escaping @Sendable (RemoteFixture, TestAuthority) async throws -> Void
  ) async throws {
    try await ControlFixture.withDirectory { directory in
      let authority = try await TestAuthority(in: directory)
      let pair = try await authority.pair("server")
      let keeper = try CertificateKeeper(CertificateFiles(certificate: pair.certificate, key: pair.key), log: log.logger)
      try await RemoteFixture.with(host, certificate: keeper, patience: patience) { try await body($0, authority) }
    }
  }

  private func trusting(_ authority: TestAuthority, _ client: RemoteClient) throws -> RemoteClient {
    var client = client
    client.authority = Array(try Data(contentsOf: URL(filePath: authority.certificate)))
    return client
  }

  /// What `openssl s_client` prints.
  private func openssl(_ port: Int, _ arguments: String...) async throws -> String {
    let result = try await Program.run("/usr/bin/openssl", ["s_client", "-connect", "127.0.0.1:\(port)"] + arguments)
    return result.output + result.errors
  }

  @Test("a client that trusts the authority is answered, with its token's rights; one that does not sends nothing")
  func answers() async throws {
    try await serve { fixture, authority in
      let client = try trusting(authority, try fixture.client(.submit))
      #expect(try await client.send("POST", "/v1/requests", #"{"identifier": "com.example.a"}"#).status == 201)
      let payload = String(repeating: "x", count: 60_000)
      let large = "[" + Array(repeating: "{\"identifier\": \"a\", \"payload\": \"\(payload)\"}", count: 20).joined(separator: ",") + "]"
      #expect(try await client.send("POST", "/v1/requests", large).status == 201)
      #expect(try await trusting(authority, fixture.stranger()).send("GET", "/v1/requests").status == 401)
      let failure = await #expect(throws: TransferFailure.self) { try await fixture.stranger().send("GET", "/healthz") }
      if case .untrusted? = failure {} else { Issue.record("\(String(describing: failure))") }
    }
  }

  @Test("only TLS 1.2 and later, and HTTP/1.1 is what ALPN agrees on")
  func versions() async throws {
    try await serve { fixture, _ in
      for version in ["-tls1_2", "-tls1_3"] {
        let told = try await openssl(fixture.port, version, "-alpn", "h2,http/1.1")
        #expect(told.contains("ALPN protocol: http/1.1"), "\(told)")
      }
      let old = try await openssl(fixture.port, "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
      #expect(old.contains("alert protocol version"), "\(old)")
    }
  }

  @Test("plain HTTP is told to use TLS, and what is neither is closed; both are counted, and logged once")
  func plaintext() async throws {
    try await serve { fixture, authority in
      let http = try RawClient(port: fixture.port)
      http.send("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
      let answer = await http.readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("this port speaks TLS"), "\(answer)")
      let large = try RawClient(port: fixture.port)
      large.send("POST /v1/requests HTTP/1.1\r\nhost: localhost\r\n\r\n" + String(repeating: "x", count: 200_000))
      #expect(await large.read().contains("this port speaks TLS"))
      for text in ["\u{0}\u{1}", "nonsense"] {
        let other = try RawClient(port: fixture.port)
        other.send(text)
        #expect(await other.readToEnd() == "")
      }
      let client = try trusting(authority, try fixture.client(.read))
      let metrics = try await Transfer(client.request("GET", "/metrics")).onThread { transfer throws(TransferFailure) in
        try transfer.answer(mostBytes: 1 << 20)
      }
      #expect(String(decoding: metrics.body, as: UTF8.self).contains("taskhost_tls_handshakes_failed_total 4\n"))
      #expect(log.lines.count == 1 && log.lines[0].contains("it speaks plain HTTP"), "\(log.lines)")
    }
  }

  @Test("a stranger who says nothing, half a handshake, or nothing after it, is closed when the time for the first request is over")
  func deadline() async throws {
    let keeper = Mutex<CertificateKeeper?>(nil)
    try await serve(patience: ClientPatience(head: .milliseconds(500))) { fixture, _ in
      let strangers = [try RawClient(port: fixture.port), try RawClient(port: fixture.port)]
      strangers[1].send("\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}")
      for stranger in strangers { #expect(await stranger.readToEnd() == "") }
      keeper.withLock { $0 = fixture.certificate }
      // Reads until the server ends the connection.
      let result = try await Program.run(
        "/usr/bin/env",
        [
          "python3", "-c",
          """
          import socket, ssl, sys
          context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE
          connection = context.wrap_socket(socket.create_connection(("127.0.0.1", \(fixture.port))))
          try: print(len(connection.recv(1)))
          except ssl.SSLEOFError: print(0)
          """,
        ])
      #expect(result.output == "0\n", "\(result)")
    }
    // Connections are counted when they have ended, and all have when the server has.
    #expect(keeper.withLock { $0?.handshakes.failures } == 2)
  }

  @Test("strangers who never finish a handshake fill only their own places")
  func places() async throws {
    try await serve { fixture, authority in
      let client = try trusting(authority, try fixture.client(.read))
      let strangers = try (0..<300).map { number in
        let stranger = try RawClient(port: fixture.port)
        if number.isMultiple(of: 2) { stranger.send("\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}") }
        return stranger
      }
      defer { withExtendedLifetime(strangers) {} }
      #expect(try await client.send("GET", "/v1/requests").status == 200)
      #expect(try await HTTPTestClient(socket: fixture.socket).send("GET", "/v1/requests").status == 200)
    }
  }

  @Test("new connections get the new certificate, and a stream goes on with the old one")
  func renewed() async throws {
    let host = MemoryHost()
    try await serve(host) { fixture, authority in
      let keeper = try #require(fixture.certificate)
      let other = try await TestAuthority(in: fixture.directory, name: "other")
      let pair = try await other.pair("new")
      let token = try fixture.client(.operate)
      let (old, new) = (try trusting(authority, token), try trusting(other, token))
      let transfer = Transfer(old.request("GET", "/v1/stream"))
      let (parts, signal) = AsyncStream.makeStream(of: String.self)
      async let ended: Void = {
        _ = try? await transfer.onThread { transfer throws(TransferFailure) in
          try transfer.run { _, bytes in
            signal.yield(String(decoding: bytes, as: UTF8.self))
            return true
          }
        }
        signal.finish()
      }()
      var reader = parts.makeAsyncIterator()
      _ = await reader.next()
      rename(pair.key, keeper.files.key)
      keeper.reload()
      #expect(try await old.send("GET", "/v1/requests").status == 200, "half of a pair changes nothing")
      rename(pair.certificate, keeper.files.certificate)
      keeper.reload()
      #expect(try await new.send("POST", "/v1/requests", #"{"identifier": "com.example.a"}"#).status == 201)
      _ = await #expect(throws: TransferFailure.self) { try await old.send("GET", "/v1/requests") }
      var seen = ""
      host.emit(lines: 1)
      while !seen.contains("event: log"), let part = await reader.next() { seen += part }
      #expect(seen.contains("event: log"))
      transfer.cancel()
      await ended
    }
  }
}
