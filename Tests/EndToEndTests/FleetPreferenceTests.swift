import Foundation
import TestSupport
import Testing

/// Which host of a fleet gets a request first.
@Suite("Fleet: preferences", .timeLimit(.minutes(10)))
struct FleetPreferenceTests {
  /// Two hosts, of which `b` has the label `gpu`.
  private func withHosts(
    job: String, slots: Int = 2, _ body: (FleetGround, HostProcess, HostProcess, LineProgram) async throws -> Void
  ) async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await fleet.withHosts(job: job, slots: slots) { first, second in
      try second.configure(
        fleet.configuration("b", job: job, slots: slots).replacing("labels = [\"test\"]", with: "labels = [\"gpu\", \"test\"]"))
      let lines = try fleet.reader()
      try await FleetGround.joined(first, second)
      try await body(fleet, first, second, lines)
    }
  }

  @Test("a preferred host gets the request, by its label or its name, wherever it was submitted; nobody waits for one that is not there")
  func labels() async throws {
    try await withHosts(job: "echo @HOST@ > @PIPE@") { fleet, first, second, lines in
      for prefer in ["gpu", "b", "gpu", "b"] {
        _ = try await FleetGround.submit(first, "--prefer", prefer)
        #expect(try lines.line() == "b")
      }
      _ = try await FleetGround.submit(second, "--prefer", "a")
      #expect(try lines.line() == "a")
      let id = try await FleetGround.submit(first, "--prefer", "moon")
      _ = try lines.line()
      #expect(try await second.json("tasks", "show", id)["prefer"]?.string == "moon")
    }
  }

  @Test("while the preferred host is full, others take the request once it has been due for 5 s; tasks why says so")
  func full() async throws {
    let job = """
      read -r order
      echo "@HOST@ $order" > @PIPE@
      while [ "$order" = '"hold"' ] && [ ! -e @PIPE@.go ]; do sleep 0.05; done
      """
    try await withHosts(job: job, slots: 1) { fleet, first, second, lines in
      let held = try await FleetGround.submit(first, "--prefer", "gpu", "--payload", "\"hold\"")
      #expect(try lines.line() == "b \"hold\"")
      let began = ContinuousClock.now
      _ = try await FleetGround.submit(first, "--prefer", "gpu", "--payload", "\"next\"")
      #expect(try lines.line() == "a \"next\"")
      #expect(ContinuousClock.now - began > .seconds(4.9))
      try Data().write(to: URL(filePath: fleet.pipe + ".go"))
      try await first.request(held, is: "succeeded")
      for (prefer, hosts) in [("gpu", "host b"), ("test", "hosts a, b")] {
        let later = try await FleetGround.submit(first, "--prefer", prefer, "--after", "1h")
        let gates = try await second.json("tasks", "why", later)["details"]?.array ?? []
        #expect(gates.map { $0["gate"]?.string } == ["time", "prefer"], "\(gates)")
        #expect(gates.last?["sentence"]?.string?.hasPrefix("prefers \(prefer) (\(hosts)): others take it at ") == true, "\(gates)")
        let (due, until) = (gates.first?["until_unix_ms"]?.integer ?? 0, gates.last?["until_unix_ms"]?.integer ?? 0)
        // The host's estimate of the database's time may be ahead of it; the database takes that off.
        #expect((4900...5000).contains(until - due), "\(gates)")
      }
    }
  }

  @Test("last_host: a retry goes to the host of the run before, however many there are")
  func lastHost() async throws {
    try await withHosts(job: "echo \"$TASKHOST_REQUEST_ID @HOST@\" > @PIPE@; exit 75") { fleet, first, second, lines in
      var ids: Set<String> = []
      for number in 0..<6 { ids.insert(try await FleetGround.submit(number % 2 == 0 ? first : second, "--prefer", "last_host")) }
      var hosts: [String: [String]] = [:]
      for _ in 0..<12 {
        let words = try lines.line().split(separator: " ").map(String.init)
        hosts[words[0], default: []].append(words[1])
      }
      #expect(Set(hosts.keys) == ids)
      for (id, two) in hosts { #expect(two.count == 2 && two[0] == two[1], "\(id): \(two)") }
      for (id, two) in hosts {
        try await first.request(id, is: "failed")
        #expect(try await second.json("tasks", "show", id)["last_host"]?.string == two[0])
      }
    }
  }

  @Test("a schedule may prefer hosts; an identifier that is not shared says that a preference has no effect")
  func elsewhere() async throws {
    let fleet = try await FleetGround(lease: "10s")
    try await HostProcess.prepare { host in
      try host.configure(
        fleet.configuration("a", job: "exit 0", more: "[schedule.\"job/often\"]\nevery = \"1h\"\nprefer = \"eu-west\"\n"))
      try await FleetGround.joined(host)
      let schedule = try await host.json("tasks", "show", "job/config:job/often")
      #expect(schedule["prefer"]?.string == "eu-west", "\(schedule)")
      let plain = try await host.cli("submit", "here", "--prefer", "eu-west")
      #expect(plain.status == 0 && plain.errors.contains("prefer has no effect"), "\(plain)")
      let shared = try await host.cli("submit", "job", "--prefer", "eu-west")
      #expect(shared.status == 0 && !shared.errors.contains("prefer"), "\(shared)")
      let refused = try await host.cli("submit", "job", "--prefer", "")
      #expect(refused.status == 6 && refused.errors.contains("prefer: is empty: leave it out"), "\(refused)")
    }
  }
}
