import Foundation
import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

@testable import FleetStore

/// Which servers a connection tries, for how long, and what it says of them.
@Suite("The servers of an address", .timeLimit(.minutes(2))) struct PostgresServerListTests {
  /// A server that accepts, does what the script says, and says nothing else.
  private static func server(_ body: String) throws -> (program: LineProgram, port: Int) {
    let script = """
      import socket, struct, sys
      listener = socket.create_server(('127.0.0.1', 0))
      print(listener.getsockname()[1], flush=True)
      kept = []
      while True:
        client, _ = listener.accept()
        kept.append(client)
        try:
          \(body)
        except OSError:
          pass
      """
    let program = try LineProgram(["/usr/bin/python3", "-c", script])
    let line = try program.line()
    guard let port = Int(line) else { throw TestFailure(line) }
    return (program, port)
  }

  private func refusal(_ address: String) -> (String, Duration) {
    let began = ContinuousClock.now
    let error = #expect(throws: PostgresError.self) { try PostgresConnection(address, name: "test") }
    return (error?.message ?? "", ContinuousClock.now - began)
  }

  @Test("each server gets as long as connect_timeout says, but ten seconds at most")
  func times() throws {
    #expect(try PostgresServerList("host=/a,/b").timeout == .seconds(5))
    for (asked, given) in [("0", 10), ("-1", 10), ("1", 2), ("7", 7), ("40", 10), ("99999999999999999999", 5)] {
      #expect(try PostgresServerList("host=/a connect_timeout=\(asked)").timeout == .seconds(given), "\(asked)")
    }
  }

  @Test("the servers are tried one by one, names by each of their addresses")
  func servers() throws {
    func list(_ address: String) throws -> [String] {
      let servers = try PostgresServerList(address)
      return try servers.all.flatMap { try servers.places(of: $0) }.map { $0.map { "\($0)=\($1)" }.joined(separator: " ") }
    }
    #expect(try list("dbname=x") == [""])
    #expect(try list("host=/a,/b port=1,2") == ["host=/a port=1", "host=/b port=2"])
    #expect(try list("host=/a,/b port=7") == ["host=/a port=7", "host=/b port=7"])
    #expect(try list("postgres://u@127.0.0.1:5,[::1]:6/d") == ["host=127.0.0.1 port=5 hostaddr=127.0.0.1", "host=::1 port=6 hostaddr=::1"])
    #expect(try list("host=db hostaddr=10.0.0.1") == ["host=db hostaddr=10.0.0.1"])
    let unknown = #expect(throws: PostgresError.self) { try list("host=no-such-name.invalid port=1") }
    #expect(unknown?.message.hasPrefix("the address of no-such-name.invalid is not known: ") == true, "\(unknown as Any)")
    #expect(try list("host=localhost").contains("host=localhost hostaddr=127.0.0.1"))
    #expect(
      try list("host=/a,/b target_session_attrs=prefer-standby")
        == [
          "host=/a target_session_attrs=standby", "host=/b target_session_attrs=standby", "host=/a target_session_attrs=any",
          "host=/b target_session_attrs=any",
        ])
    #expect(try Set(list("host=/a,/b,/c")) == ["host=/a", "host=/b", "host=/c"])
  }

  @Test("a server that accepts and never answers is left in time, and the next one is taken")
  func silent() throws {
    let (silent, port) = try Self.server("pass")
    let (message, took) = refusal("host=127.0.0.1 port=\(port) user=x dbname=x connect_timeout=1")
    #expect(message == "the server at host=127.0.0.1 port=\(port) did not answer in time")
    #expect(took < .seconds(4))
    let there = try PostgresServer.shared.get()
    let connection = try PostgresConnection(
      "host=127.0.0.1,\(there.directory) port=\(port),5432 user=taskhost dbname=postgres connect_timeout=1", name: "test")
    #expect(connection.isOpen)
    // Names are looked up when their turn comes, if it comes.
    let began = ContinuousClock.now
    _ = try PostgresConnection("host=\(there.directory),no-such-name.invalid user=taskhost dbname=postgres", name: "test")
    #expect(ContinuousClock.now - began < .seconds(1))
    _ = silent
  }

  @Test("a server that never ends to tell is left in time, and its words are told nobody; those of a refusal are cut and escaped")
  func endless() async throws {
    let notice = "b'N' + struct.pack('>I', 4 + len(text)) + text"
    let endless = try Self.server(
      "client.sendall(b'R' + struct.pack('>II', 8, 0)); text = b'SWARNING\\0C01000\\0M' + b'spam' * 2000 + b'\\0\\0'; "
        + "[client.sendall(\(notice)) for _ in iter(int, 1)]")
    let address = "host=127.0.0.1 port=\(endless.port) user=x dbname=x sslmode=disable gssencmode=disable connect_timeout=2"
    let told = try await Program.run(try BuiltProgram.taskhost, ["fleet", "status", "--url", address])
    #expect(told.status == 5 && told.errors.contains("did not answer in time"), "\(told.errors.prefix(500))")
    #expect(told.errors.utf8.count < 500)
    let rude = try Self.server(
      "text = b'SFATAL\\0C28000\\0M\\x1b[31mred' + b'x' * 20000 + b'\\0\\0'; "
        + "client.sendall(b'E' + struct.pack('>I', 4 + len(text)) + text)")
    let (message, _) = refusal("host=127.0.0.1 port=\(rude.port) user=x dbname=x sslmode=disable gssencmode=disable")
    #expect(message.contains("\\u{1b}[31mred") && message.utf8.count < 3000, "\(message)")
  }

  @Test("a passfile that others may read is named with the failure, and not on the standard error by libpq")
  func passfile() async throws {
    let path = NSTemporaryDirectory() + "/pass-\(UInt32.random(in: 0 ... .max))"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try "*:*:*:*:secret\n".write(toFile: path, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    let told = try await Program.run(try BuiltProgram.taskhost, ["fleet", "status", "--url", "host=/nowhere dbname=x passfile=\(path)"])
    #expect(told.errors.contains("\(path): it is not used, because others may use it (mode 0644): chmod 0600"), "\(told.errors)")
    #expect(!told.errors.contains("WARNING"), "\(told.errors)")
  }

  @Test(
    "words about an address that may have a password do not quote it",
    arguments: [
      "postgres://taskhost:SECRETPW%zz@h/y", "postgres://taskhost:SECRETPW@[::1", "host=h password=SECRET PW dbname=x",
      "host=h password=a SECRETPW=", "postgres://u:SECRETPW@h/x?a=b", "postgres://u:\"\"SECRETPW%zz@h/x",
    ])
  func secrets(_ address: String) {
    guard case .unreadable(let reason) = PostgresConnection.check(address) else { return }
    #expect(!reason.contains("SECRET") && !reason.contains("PW"), "\(reason)")
  }
}
