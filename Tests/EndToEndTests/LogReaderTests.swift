import Foundation
import Glibc
import TestSupport
import Testing

/// Whoever reads the host's log may stop: the host does not.
@Suite("A log that nobody reads", .timeLimit(.minutes(10)))
struct LogReaderTests {
  /// A FIFO that a host writes its log to, read by the test only when it says so.
  private final class PausedLog: Sendable {
    let path: String
    private let descriptor: Int32

    /// The host's standard error goes there.
    var wrapper: [String] { ["/bin/sh", "-c", "exec \"$@\" 2>\"$0\"", path] }

    init(_ path: String) throws {
      self.path = path
      guard mkfifo(path, 0o600) == 0 else { throw TestFailure("mkfifo: errno \(errno)") }
      // Also for writing, so that opening waits for nobody.
      descriptor = open(path, O_RDWR | O_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// Reads until `text` has come, and not a byte more than it happens to get.
    func read(until text: String, within limit: Duration = .seconds(60)) async throws -> String {
      let descriptor = descriptor
      return try await onThread {
        let end = ContinuousClock.now + limit
        var all = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !all.contains(text) {
          var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
          let left = (end - .now).components.seconds
          guard left > 0, poll(&ready, 1, Int32(left) * 1000) > 0 else { throw TestFailure("no \(text) in the log: \(all.suffix(2000))") }
          let count = Glibc.read(descriptor, &buffer, buffer.count)
          guard count > 0 else { throw TestFailure("read: errno \(errno)") }
          all += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return all
      }
    }
  }

  private static func warnings(_ status: JSON) -> String {
    (status["warnings"]?.array ?? []).compactMap(\.string).joined(separator: "\n")
  }

  /// A host that has written more to its log than is kept, to a reader that stopped after its launch.
  private func withStoppedReader(_ body: (HostProcess, PausedLog) async throws -> Void) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script", ["-DMAX_RUNS=4"])
      try host.configure("")
      let log = try PausedLog(host.directory("log"))
      try host.spawn(through: log.wrapper)
      _ = try await log.read(until: "control socket open")
      let one = "{\"identifier\":\"test.script\",\"payload\":\"log 2 \(String(repeating: "x", count: 8000))\"}"
      let body400 = "[" + Array(repeating: one, count: 400).joined(separator: ",") + "]"
      let socket = host.socket
      let ids = try await onThread {
        try SocketClient(socket).request("POST", "/v1/requests", body: body400).json()["requests"]?.array.compactMap { $0["id"]?.string }
          ?? []
      }
      #expect(ids.count == 400)
      for id in ids.suffix(4) { try await host.request(id, is: "succeeded") }
      try await body(host, log)
    }
  }

  @Test("it goes on, says how many lines were dropped, and writes again as soon as it is read")
  func goesOn() async throws {
    try await withStoppedReader { host, log in
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      let status = try await host.json("status")
      let dropped = status["counters"]?["log_lines_dropped"]?.integer ?? 0
      #expect(dropped > 0, "\(status)")
      #expect(Self.warnings(status).contains("nobody reads the log"), "\(status)")
      let text = try await log.read(until: "lines were dropped")
      for line in text.split(separator: "\n").dropFirst().dropLast() { _ = try JSON(parsing: String(line)) }
      // Read to the end, it is whole again.
      let position = "a line that is read"
      _ = try await host.run("log 2 \(position)")
      _ = try await log.read(until: position)
      let after = try await host.json("status")
      #expect(!Self.warnings(after).contains("nobody reads the log"), "\(after)")
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test("it ends when it is asked to, though nobody reads what it has to say")
  func ends() async throws {
    try await withStoppedReader { host, _ in
      host.signal(SIGTERM)
      let end = try await host.end(within: .seconds(20))
      #expect(end.status == 0)
    }
  }
}
