import Foundation
import Glibc
import TestSupport
import Testing

/// `taskhost doctor`, with the real program.
@Suite("doctor", .timeLimit(.minutes(20)))
struct DoctorTests {
  /// What it finds that is not well, by its topics.
  private func failures(_ host: HostProcess, _ arguments: String...) async throws -> (status: Int32, findings: [JSON]) {
    let result = try await host.cli(["doctor", "--json", "--offline"] + arguments)
    let findings = try result.json()["findings"]?.array ?? []
    return (result.status, findings.filter { $0["verdict"]?.string == "failure" })
  }

  @Test("nothing is wrong with a sound host, before it runs, while it runs, and after")
  func sound() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("[command.tidy]\nrun = [\"true\"]\nschedule = \"every 1h\"\n")
      for when in ["before", "while", "after"] {
        if when == "while" { try await host.start() }
        if when == "after" { #expect(try await host.terminate().status == 0) }
        let result = try await host.cli("doctor", "--offline")
        #expect(result.status == 0, "\(when): \(result.output)\(result.errors)")
        for topic in ["sandbox", "limits", "clock", "disk", "store", "plugins", "commands"] where when != "before" {
          #expect(result.output.contains(" \(topic): "), "\(when): \(topic): \(result.output)")
        }
        #expect(result.output.contains(when == "while" ? "✓ host: " : "! host: "), "\(when): \(result.output)")
      }
    }
  }

  @Test("what the kernel cannot enforce is told once, although the running host says it too")
  func old() async throws {
    let old = ["TASKHOST_LANDLOCK_ABI": "2"]
    try await HostProcess.prepare(environment: old) { host in
      try await host.addTwin()
      try host.configure("")
      try await host.start()
      let result = try await Program.run(
        try BuiltProgram.taskhost, ["doctor", "--json", "--offline"], environment: old, directory: host.directory.path)
      let seen = try result.json()["findings"]?.array.compactMap { $0["message"]?.string }.filter { $0.contains("Landlock ABI 2") } ?? []
      #expect(seen.count > 1 && Set(seen).count == seen.count, "\(seen)")
    }
  }

  @Test("each thing that would fail tonight is a failure with its remedy, and exit 1")
  func broken() async throws {
    try await HostProcess.prepare { host in
      try host.directory.file("plugins/libBroken.so", "no library")
      try host.configure(
        """
        [command.backup]
        run = ["no-such-backup"]
        schedule = "every 1h"
        [schedule."com.example.gone/weekly"]
        every = "7d"
        [[notify]]
        on = ["failed"]
        mail = "a@example.org"
        sendmail = "/nowhere/sendmail"

        """)
      let (status, found) = try await failures(host)
      #expect(status == 1)
      #expect(Set(found.compactMap { $0["topic"]?.string }) == ["plugins", "commands", "schedules", "receivers"], "\(found)")
      for finding in found { #expect(finding["remedy"]?.string?.isEmpty == false && finding["why"] != nil, "\(finding)") }
    }
  }

  @Test("a configuration that cannot be read, a store that is none, and a state directory that cannot be written are failures")
  func unusable() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("")
      try host.directory.folder("state")
      try host.directory.file("state/taskhost.sqlite", Data(repeating: 0x41, count: 8192), mode: 0o600)
      let store = try await failures(host)
      #expect(store.status == 1 && store.findings.map { $0["topic"]?.string } == ["store"], "\(store)")
      try FileManager.default.removeItem(atPath: host.directory("state"))
      try host.directory.file("state", "a file")
      let state = try await failures(host)
      #expect(state.status == 1 && state.findings.contains { $0["topic"]?.string == "state_directory" }, "\(state)")
      try host.directory.file("taskhost.toml", "max_pending = \"many\"\n")
      let configuration = try await failures(host)
      #expect(configuration.status == 1 && configuration.findings.first?["line"]?.integer == 1, "\(configuration)")
    }
  }

  @Test("a receiver that listens can be reached, another cannot; --offline tries none, and no address is told beyond its port")
  func receivers() async throws {
    try await HostProcess.prepare { host in
      let server = try await WebhookServer.start(host.directory("told"), secret: "s")
      defer { server.end() }
      // A port that was free a moment ago, and that nobody listens on.
      let closed = try ClosedPort()
      try host.configure(
        """
        [[notify]]
        on = ["failed"]
        url = "\(server.address)/xSECRETx"
        [command.tidy]
        run = ["true"]
        schedule = "every 1h"
        ping = "http://127.0.0.1:\(closed.port)/xSECRETx"

        """)
      #expect(try await failures(host).status == 0)
      let result = try await host.cli("doctor")
      #expect(result.status == 1, "\(result)")
      #expect(result.output.contains("✓ receivers: \(server.address) can be reached"), "\(result.output)")
      #expect(result.output.contains("✗ receivers: http://127.0.0.1:\(closed.port) cannot be reached"), "\(result.output)")
      #expect(!(result.output + result.errors).contains("xSECRETx"), "\(result)")
      #expect(host.directory.text("told").isEmpty, "nothing is sent")
    }
  }

  @Test("a running host's own problems are told, and that its file has changed since it was launched")
  func running() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("")
      try await host.start()
      _ = try await host.run("result 1")
      try host.configure("max_pending = 7\n")
      // First: the host may notice its changed file at any moment.
      let problems = try await host.json("status")["problems"]?.array ?? []
      let result = try await host.cli("doctor", "--offline", "--json")
      let findings = (try result.json()["findings"]?.array ?? []).filter { $0["topic"]?.string == "host" }
      #expect(
        findings.contains { $0["message"]?.string?.contains("another configuration than this one: max_pending") == true }, "\(findings)")
      for problem in problems {
        #expect(findings.contains { $0["message"]?.string == problem["message"]?.string }, "\(problem): \(findings)")
      }
    }
  }

  @Test("a host that hangs is a failure, told within seconds; one that was killed is only not there")
  func hanging() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("")
      try await host.start()
      host.signal(SIGSTOP)
      let (status, found) = try await failures(host)
      host.signal(SIGCONT)
      #expect(status == 1 && found.count == 1, "\(found)")
      #expect(found.first?["message"]?.string?.contains("has the state directory, and nobody answers") == true, "\(found)")
      await host.kill()
      let killed = try await host.cli("doctor", "--offline")
      #expect(killed.status == 0 && killed.output.contains("the next one recovers it"), "\(killed)")
    }
  }

  @Test(
    "a schedule that requires a network fails where there is no interface",
    .enabled(if: Program.status(["unshare", "-Urn", "true"]) == 0, "user namespaces are allowed"))
  func noInterface() async throws {
    try await HostProcess.prepare { host in
      try host.configure("[command.tidy]\nrun = [\"true\"]\nschedule = \"every 1h\"\nrequires = [\"network\", \"unmetered\"]\n")
      let result = try await Program.run(
        "/usr/bin/env",
        ["unshare", "-Urn", try BuiltProgram.taskhost, "doctor", "--offline", "--quiet", "--config", host.directory("taskhost.toml")])
      #expect(result.status == 1, "\(result)")
      for condition in ["network", "unmetered"] {
        #expect(
          result.output.contains(
            "✗ schedules: tidy: \(condition) cannot hold on this machine: there is no network interface but the loopback"),
          "\(result.output)")
      }
    }
  }

  @Test("what has ended of an account is a failure, what ends soon a warning, each with what to do, and no token is printed")
  func accounts() async throws {
    try await HostProcess.prepare { host in
      let now = Int(Date().timeIntervalSince1970)
      func file(_ name: String, _ members: String) throws {
        try host.directory.file("\(name).json", Data("{\"access_token\": \"xSECRETx\", \(members)}".utf8), mode: 0o600)
      }
      try file("good", "\"refresh_token\": \"xSECRETx\", \"expires_at\": \(now + 3600)")
      try file("stale", "\"refresh_token\": \"xSECRETx\", \"expires_at\": \(now - 60)")
      try file("out", "\"refresh_token\": \"xSECRETx\", \"expires_at\": \(now + 3600)")
      try host.directory.file("out.json.signed-out", "{\"account\": \"out\", \"error\": \"invalid_grant\"}")
      try file("alone", "\"expires_at\": \(now + 86_400)")
      try file("spent", "\"refresh_token\": \"xSECRETx\", \"expires_at\": \"2020-01-01T00:00:00Z\"")
      try file(
        "short",
        "\"refresh_token\": \"xSECRETx\", \"issued_at\": \(now - 60), \"expires_at\": \(now + 3600), \"refresh_expires_in\": 1800")
      try file("ended", "\"refresh_token\": \"xSECRETx\", \"issued_at\": \(now - 3600), \"refresh_expires_in\": 1800")
      let certificate = try await Program.run(
        "openssl",
        [
          "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=authority", "-days", "3", "-keyout", host.directory("ca.key"),
          "-out", host.directory("ca.pem"),
        ])
      #expect(certificate.status == 0, "\(certificate.errors)")
      let names = ["good", "stale", "out", "alone", "spent", "short", "ended", "gone"]
      let accounts = names.map { name in
        "[[plugin.\"org.taskhost.token-refresh\".settings.accounts]]\nname = \"\(name)\"\n"
          + "token_file = \"\(host.directory("\(name).json"))\"\nca_file = \"\(host.directory("ca.pem"))\"\n"
      }
      try host.configure(accounts.joined())
      let result = try await host.cli(["doctor", "--json", "--offline"])
      #expect(result.status == 1 && !(result.output + result.errors).contains("xSECRETx"), "\(result)")
      let found = (try result.json()["findings"]?.array ?? []).filter { ["accounts", "certificate"].contains($0["topic"]?.string) }
      let seen = Dictionary(
        found.compactMap { finding in finding["subject"]?.string.map { ($0, finding) } }, uniquingKeysWith: { first, _ in first })
      for (name, verdict, text) in [
        ("good", "ok", "its tokens are good"), ("stale", "warning", "nothing has refreshed it"), ("out", "failure", "(invalid_grant)"),
        ("alone", "warning", "there is no refresh token"), ("spent", "warning", "ended at 2020-01-01T00:00:00"),
        ("short", "warning", "before the access token does"), ("ended", "failure", "its refresh token ended"),
        ("gone", "failure", "there is no token file"), (host.directory("ca.pem"), "warning", "the last certificate in ca_file"),
      ] {
        let finding = seen[name]
        #expect(finding?["verdict"]?.string == verdict, "\(name): \(String(describing: finding))")
        #expect(finding?["message"]?.string?.contains(text) == true, "\(name): \(String(describing: finding))")
        #expect(verdict == "ok" || finding?["remedy"]?.string?.isEmpty == false, "\(name)")
      }
    }
  }

  /// A TCP port that is bound, so that nobody else gets it, and on which nobody listens.
  private final class ClosedPort: Sendable {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let descriptor = descriptor
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
      }
      guard isBound else { throw TestFailure("no port: errno \(errno)") }
      port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
  }
}
