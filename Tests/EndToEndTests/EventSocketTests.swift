import TestSupport
import Foundation
import Glibc
import Testing

/// The sockets of `[events.NAME]`, with real datagrams.
@Suite("Event sockets", .timeLimit(.minutes(20)))
struct EventSocketTests {
  private static let unix = "[events.push]\nlisten = \"unix:push.sock\"\nmode = \"0660\"\n"

  /// Sends datagrams from a thread of its own, each when the receiver has room, within 60 s; returns how many could not be sent.
  private func send(_ texts: [String], to path: String) async throws -> Int {
    try await onThread {
      let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      defer { close(descriptor) }
      var limit = timeval(tv_sec: 60, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      var failed = 0
      for text in texts {
        let bytes = Array(text.utf8)
        let count = bytes.withUnsafeBytes { bytes in
          withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
              sendto(descriptor, bytes.baseAddress, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
          }
        }
        if count != bytes.count { failed += 1 }
      }
      return failed
    }
  }

  private func counters(_ host: HostProcess) async throws -> [String: Int64] {
    let counters = try await host.json("status")["counters"]
    var numbers: [String: Int64] = [:]
    for name in ["received", "woken", "merged", "dropped"] { numbers[name] = counters?["events_\(name)"]?.integer }
    return numbers
  }

  @Test("a datagram to a Unix socket wakes the request that waits for it, with its bytes as the payload")
  func wakes() async throws {
    try await HostProcess.run(Self.unix, script: ["-DALWAYS_ECHO"]) { host in
      let path = host.directory("push.sock")
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o660)
      let expected: [(sent: String, output: JSON)] = [
        ("{\"branch\": \"main\"}", .object(["branch": .string("main")])), ("", .string("mine")), ("17", .integer(17)),
      ]
      for (sent, output) in expected {
        let id = try await host.submit("mine", ["--on-event", "push"])
        #expect(try await send([sent], to: path) == 0)
        try await host.request(id, is: "succeeded")
        #expect(try await host.lastOutput(of: id) == output)
      }
      #expect(try await counters(host) == ["received": 3, "woken": 3, "merged": 0, "dropped": 0])
      try await host.terminate()
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test("a datagram to a UDP port, as bash sends it, wakes the request that waits for it")
  func udp() async throws {
    try await HostProcess.run("[events.alarm]\nlisten = \"udp:127.0.0.1:0\"\n", script: ["-DALWAYS_ECHO"]) { host in
      let line = try await host.current.line(with: "event socket open")
      let port = try #require(line.split(separator: "udp:127.0.0.1:").last.flatMap { Int($0.prefix { $0.isNumber }) })
      let id = try await host.submit("mine", ["--on-event", "alarm"])
      let sent = try await Program.run("/bin/bash", ["-c", "printf '{\"level\":3}' > /dev/udp/127.0.0.1/\(port)"])
      #expect(sent.status == 0, "\(sent.errors)")
      try await host.request(id, is: "succeeded")
      #expect(try await host.lastOutput(of: id) == .object(["level": .integer(3)]))
    }
  }

  @Test("of 20,000 datagrams each is merged or dropped and counted, the last one stays, and the host answers meanwhile")
  func flood() async throws {
    try await HostProcess.run(Self.unix, script: ["-DALWAYS_ECHO"]) { host in
      let id = try await host.submit("mine", ["--on-event", "push", "--debounce", "10s"])
      async let failed = send((1...20_000).map { "\($0)" }, to: host.directory("push.sock"))
      for _ in 0..<5 {
        let begun = ContinuousClock.now
        let numbers = try await counters(host)
        #expect(ContinuousClock.now - begun < .seconds(20), "\(numbers)")
      }
      #expect(try await failed == 0)
      // It runs when there was quiet for ten seconds: all that was sent has been read by then.
      try await host.request(id, is: "succeeded", within: .seconds(120))
      let numbers = try await counters(host)
      let (woken, merged, dropped) = (numbers["woken"] ?? 0, numbers["merged"] ?? 0, numbers["dropped"] ?? 0)
      #expect(numbers["received"] == 20_000 && woken + merged + dropped == 20_000, "\(numbers)")
      #expect(woken == 1 && merged > 0, "\(numbers)")
      #expect(try await host.lastOutput(of: id) == .integer(20_000))
      if dropped > 0 {
        let warnings = try await host.json("status")["warnings"]?.array.compactMap(\.string) ?? []
        #expect(warnings.contains { $0.contains("event push") && $0.contains("more came than can be recorded") }, "\(warnings)")
      }
    }
  }

  @Test("a host that was killed leaves its socket behind, the next one takes it over, and the request still waits")
  func takesOver() async throws {
    try await HostProcess.run(Self.unix) { host in
      let path = host.directory("push.sock")
      let id = try await host.submit("result 0", ["--on-event", "push"])
      await host.kill()
      #expect(FileManager.default.fileExists(atPath: path))
      #expect(try await send(["early"], to: path) == 1)
      try await host.start()
      #expect(try await send(["\"result 0\""], to: path) == 0)
      try await host.request(id, is: "succeeded")
      let second = try await host.failure()
      #expect(second.status == 78 && second.errors.contains("another host"), "\(second.errors)")
      #expect(FileManager.default.fileExists(atPath: path))
    }
  }

  @Test("a socket that cannot be opened fails the launch with exit 78, before anything is launched, and says what to do")
  func refused() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      for (listen, words) in [
        ("unix:no-such-folder/push.sock", "make it, or choose another path"), ("unix:taskhost.toml", "move it away"),
        ("udp:192.0.2.1:5140", "this machine does not have the address"),
      ] {
        try host.configure("[events.push]\nlisten = \"\(listen)\"\n")
        let result = try await host.failure()
        #expect(result.status == 78, "\(result.errors)")
        #expect(result.errors.contains("(events.push.listen)") && result.errors.contains(words), "\(result.errors)")
        #expect(!result.errors.contains("registered"), "\(result.errors)")
      }
    }
  }

  @Test("a launch that fails for another reason leaves no socket behind")
  func failedLaunch() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("permitted_identifiers = [\"test.script\", \"test.nobody\"]\n\(Self.unix)")
      let result = try await host.failure()
      #expect(result.status == 78 && result.errors.contains("test.nobody"), "\(result.errors)")
      #expect(result.errors.contains("event socket open"), "\(result.errors)")
      #expect(!FileManager.default.fileExists(atPath: host.directory("push.sock")))
    }
  }
}
