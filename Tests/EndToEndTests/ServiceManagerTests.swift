import Foundation
import TestSupport
import Testing

/// The host under a service manager.
@Suite("Service manager", .timeLimit(.minutes(10)))
struct ServiceManagerTests {
  @Test("it hears that the host is ready, beats from its scheduler, and of its end; programs of plugins do not get its socket")
  func told() async throws {
    let directory = try TestDirectory()
    let socket = try ManagerSocket(directory("notify"))
    let environment = ["NOTIFY_SOCKET": socket.place, "WATCHDOG_USEC": "200000"]
    try await HostProcess.prepare(environment: environment) { host in
      try host.configure(
        """
        drain_timeout = "7s"
        [command."test.environment"]
        run = ["/usr/bin/env"]
        """)
      try await host.start()
      #expect(socket.next()?.hasPrefix("READY=1\nSTATUS=launched") == true)
      for _ in 0..<3 { #expect(socket.next() == "WATCHDOG=1\nSTATUS=launched; no run is live") }
      let shown = try await host.cli("submit", "test.environment", "--wait")
      #expect(shown.status == 0 && !shown.errors.contains("NOTIFY_SOCKET") && !shown.errors.contains("WATCHDOG"), "\(shown)")
      _ = try await host.terminate()
      var last: [String] = []
      while let message = socket.next(within: 0.5) { last.append(message) }
      #expect(last.contains { $0.hasPrefix("STOPPING=1\nSTATUS=draining") && $0.hasSuffix("EXTEND_TIMEOUT_USEC=37000000") }, "\(last)")
    }
  }
}
