import Foundation
import TaskHostClient
import TestSupport
import Testing

/// The Swift client against a real host.
@Suite("The Swift client", .timeLimit(.minutes(20)))
struct ClientExampleTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Runs the example with what says where the host is.
  private func expectExample(_ arguments: [String], _ environment: [String: String], in host: HostProcess) async throws {
    let result = try await Program.run(
      try BuiltProgram.path("client-example"), arguments, environment: environment, directory: host.directory.path)
    let lines = result.output.split(separator: "\n")
    let said = ["succeeded [1,2]", "a run:", "woken: 0", "held", "refused(status: 422", "cancelled cancelled"]
    #expect(result.status == 0 && lines.count == said.count, "\(result.output)\(result.errors)")
    for (line, words) in zip(lines, said) { #expect(line.hasPrefix(words), "\(line)") }
  }

  /// A host that speaks TLS, its address, its authority, and a token for everything.
  private func withTLS(
    _ body: (_ host: HostProcess, _ url: String, _ authority: TestAuthority, _ token: String) async throws -> Void
  ) async throws {
    try await HostProcess.prepare { host in
      let authority = try await TestAuthority(in: host.directory.path)
      _ = try await authority.pair("tls", for: "IP:127.0.0.1,DNS:localhost")
      try await host.add("script.so", "script")
      try host.configure("[control]\nlisten = \"127.0.0.1:0\"\ncertificate = \"tls.pem\"\nkey = \"tls.key\"")
      try await host.start()
      let url = "https://127.0.0.1:\(try await host.remotePort())"
      let made = try await host.cli("tokens", "create", "--role", "operate")
      try await host.current.line(with: "the tokens have changed")
      try await body(host, url, authority, made.output.trimmingCharacters(in: .whitespacesAndNewlines))
    }
  }

  @Test("the example of the documentation does what it says, over the socket and over TLS")
  func example() async throws {
    let source = try String(contentsOf: Self.root.appending(path: "Tests/Fixtures/ClientExample/Main.swift"), encoding: .utf8)
    let page = try String(contentsOf: Self.root.appending(path: "Documentation/clients.md"), encoding: .utf8)
    let code = try #require(source.firstRange(of: "import TaskHostClient").map { source[$0.lowerBound...] })
    #expect(page.contains(code.trimmingCharacters(in: .whitespacesAndNewlines)), "the page and the program differ")
    try await withTLS { host, url, authority, token in
      try await expectExample([], [:], in: host)
      try await expectExample([url, authority.certificate], ["TASKHOST_TOKEN": token], in: host)
    }
  }

  @Test("the client says what failed, why, and what to do")
  func errors() async throws {
    try await withTLS { host, url, authority, token in
      func kind(_ body: () async throws(TaskHostError) -> Void) async -> TaskHostError? {
        do throws(TaskHostError) {
          try await body()
          return nil
        } catch { return error }
      }
      let client = try TaskHostClient(url: url, token: token, certificateAuthority: authority.certificate)
      #expect(try await client.notify("test.x").woken == 0)
      let unknown = await kind { () throws(TaskHostError) in _ = try await client.request("01976c1e-0000-7000-8000-000000000000") }
      if case .refused(404, "not_found", _)? = unknown?.kind {} else { Issue.record("\(String(describing: unknown))") }
      let untrusting = try TaskHostClient(url: url, token: token)
      let untrusted = await kind { () throws(TaskHostError) in _ = try await untrusting.notify("test.x") }
      #expect(untrusted?.kind == .unreachable)
      #expect(untrusted?.why.contains("certificate is not trusted") == true, "\(String(describing: untrusted))")
      let named = try TaskHostClient(
        url: url.replacing("127.0.0.1", with: "localhost"), token: token, certificateAuthority: authority.certificate)
      #expect(try await named.notify("test.x").woken == 0)
      let plain = try TaskHostClient(url: url.replacing("https", with: "http"), token: token)
      let refused = await kind { () throws(TaskHostError) in _ = try await plain.notify("test.x") }
      #expect(refused?.why.contains("this port speaks TLS") == true, "\(String(describing: refused))")
      let nobody = try TaskHostClient(url: "https://127.0.0.1:1", certificateAuthority: authority.certificate)
      #expect(await kind { () throws(TaskHostError) in _ = try await nobody.notify("test.x") }?.kind == .unreachable)
      let socket = TaskHostClient(socket: host.directory("none.sock"))
      #expect(await kind { () throws(TaskHostError) in _ = try await socket.notify("test.x") }?.why == "no host is running there")
      let json = await kind { () throws(TaskHostError) in _ = try await client.submit("test.script", payload: .json("{}, \"x\": 1")) }
      #expect(json?.kind == .invalid)
      for url in ["ftp://a", "https://", "http://a:0", "http://a:70000", "http://u@a", "http://a/b", "http://::1:1", "a:1"] {
        #expect(throws: TaskHostError.self) { try TaskHostClient(url: url, token: token) }
      }
      let waiting = try await client.submit("test.script", options: .delayed)
      let late = await kind { () throws(TaskHostError) in _ = try await client.wait(waiting.id, timeout: .milliseconds(50)) }
      #expect(late?.kind == .timedOut)
      let task = Task { try await client.wait(waiting.id) }
      task.cancel()
      _ = await #expect(throws: TaskHostError.self) { try await task.value }
      #expect(try await client.cancel(waiting.id).state == "cancelled")
      #expect(try await client.wait(waiting.id).state == .cancelled)
    }
  }

  @Test("a host that drains waits for the block of hold, which ends with its value or its error")
  func hold() async throws {
    struct Flaw: Error {}
    try await HostProcess.run { host in
      let client = TaskHostClient(socket: host.socket)
      let length = try await client.hold("a test", name: "tester") { try await host.json("status")["assertions"]?.array.count }
      #expect(length == 1)
      _ = await #expect(throws: Flaw.self) { try await client.hold("a test") { throw Flaw() } }
      #expect(try await host.json("status")["assertions"]?.array.isEmpty == true)
    }
  }

  @Test("commands reach a host by --url and TASKHOST_URL, with the token of the environment")
  func commands() async throws {
    try await withTLS { host, url, authority, token in
      func taskhost(_ arguments: [String], _ environment: [String: String]) async throws -> Program.Result {
        try await Program.run(try BuiltProgram.taskhost, arguments, environment: environment, directory: host.directory("plugins"))
      }
      let token = ["TASKHOST_TOKEN": token]
      let waited = try await taskhost(
        ["submit", "test.script", "--payload", "\"result 0\"", "--wait", "--url", url, "--ca-file", authority.certificate], token)
      #expect(waited.status == 0, "\(waited)")
      let all = token.merging(["TASKHOST_URL": url, "TASKHOST_CA_FILE": authority.certificate]) { $1 }
      #expect(try await taskhost(["status"], all).output.contains("test.script"))
      #expect(try await taskhost(["tasks", "list", "--json"], all).output.contains("test.script"))
      let untrusted = try await taskhost(["status", "--url", url], token)
      #expect(untrusted.status == 5 && untrusted.errors.contains("certificate is not trusted"), "\(untrusted)")
      let nobody = try await taskhost(["tasks", "list", "--url", url, "--ca-file", authority.certificate], [:])
      #expect(nobody.status == 6 && nobody.errors.contains("asks for a token"), "\(nobody)")
      #expect(try await taskhost(["status", "--url", url, "--socket", host.socket], token).status == 2)
      #expect(try await taskhost(["status", "--url", "tasks.example.org"], token).status == 2)
    }
  }
}

extension TaskHostClient.Options {
  fileprivate static var delayed: Self {
    var options = Self()
    options.delay = .seconds(3600)
    return options
  }
}
