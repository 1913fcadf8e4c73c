import Foundation
import TestSupport
import Testing

/// The cleanup plugin in a worker, in the default sandbox.
@Suite("Cleanup plugin", .timeLimit(.minutes(20)))
struct CleanupPluginTests {
  private static let identifier = "org.taskhost.cleanup"

  /// Gives `body` a host with the plugin and a folder `litter` that it may change.
  private func withPlugin(
    rule: String, entitled: String = "litter", starts: Bool = true, _ body: (HostProcess) async throws -> Void
  ) async throws {
    try await HostProcess.prepare { host in
      try host.directory.file(
        "plugins/libCleanup.so", try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libCleanup.so"))))
      try host.directory.folder("litter")
      try host.directory.folder("elsewhere")
      try host.configure(
        """
        [[plugin."\(Self.identifier)".settings.rules]]
        name = "litter"
        directory = "\(host.directory("litter"))"
        \(rule)

        [plugin."\(Self.identifier)".entitlements]
        write = ["\(host.directory(entitled))"]

        """)
      if starts { try await host.start() }
      try await body(host)
    }
  }

  private func names(_ host: HostProcess, _ folder: String = "litter") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: host.directory(folder)).sorted()
  }

  @Test("by default a file that a program writes to, maps or runs stays, and every other goes")
  func openFiles() async throws {
    try await withPlugin(rule: "glob = \"**/*\"\nmax_age = \"0s\"\nremove_empty_directories = true") { host in
      for name in ["log", "database-wal", "old1", "old2"] { try host.directory.file("litter/\(name)", "x") }
      try host.directory.folder("litter/empty")
      try host.directory.folder("litter/inside")
      let log = open(host.directory("litter/log"), O_WRONLY | O_APPEND | O_CLOEXEC)
      defer { close(log) }
      let database = open(host.directory("litter/database-wal"), O_RDONLY | O_CLOEXEC)
      let memory = mmap(nil, 1, PROT_READ, MAP_SHARED, database, 0)
      close(database)
      defer { munmap(memory, 1) }
      let inside = open(host.directory("litter/inside"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      defer { close(inside) }
      // A program that runs from the folder, with its own file as nobody's descriptor.
      try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: host.directory("litter/program"))
      let program = try Program(host.directory("litter/program"), ["600"])
      defer { program.send(SIGKILL) }

      let result = try await host.cli("submit", Self.identifier, "--wait")
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.output.contains("\"kept_open\":3"), "\(result.output)")
      #expect(result.output.contains("\"removed\":2"), "\(result.output)")
      #expect(result.output.contains("\"directories_removed\":1"), "\(result.output)")
      #expect(try names(host) == ["database-wal", "inside", "log", "program"])
    }
  }

  @Test("a bind mount is not walked through", .enabled(if: geteuid() == 0, "needs the right to mount"))
  func bindMount() async throws {
    try await withPlugin(rule: "glob = \"**/*\"\nmax_age = \"0s\"\nremove_empty_directories = true", starts: false) { host in
      try host.directory.folder("litter/mounted")
      try host.directory.file("elsewhere/precious", "x")
      try host.directory.file("litter/old", "x")
      let mount = try await Program.run("/usr/bin/mount", ["--bind", host.directory("elsewhere"), host.directory("litter/mounted")])
      try #require(mount.status == 0, "\(mount.errors)")
      do {
        try await host.start()
        let result = try await host.cli("submit", Self.identifier, "--wait")
        #expect(result.output.contains("\"other_file_system\":1"), "\(result.output)")
        #expect(try names(host, "elsewhere") == ["precious"])
        #expect(try names(host) == ["mounted"])
      } catch { Issue.record(error) }
      _ = try await Program.run("/usr/bin/umount", ["-l", host.directory("litter/mounted")])
    }
  }

  @Test("a rule on a directory that is not entitled refuses the launch with a sentence")
  func notEntitled() async throws {
    try await withPlugin(rule: "glob = \"*\"\nmax_age = \"0s\"", entitled: "elsewhere") { host in
      let result = try await host.cli("plugins", "list")
      #expect(result.output.contains("is not entitled: add it to entitlements.write"), "\(result.output)")
    }
  }

  @Test("a rule on an entitled directory that is not there yet is no error, and is carried out once the directory is there")
  func missingDirectory() async throws {
    try await withPlugin(rule: "glob = \"*\"\nmax_age = \"0s\"", starts: false) { host in
      try FileManager.default.removeItem(atPath: host.directory("litter"))
      try await host.start()
      let missing = try await host.cli("submit", Self.identifier, "--wait")
      #expect(missing.status == 0, "\(missing.output) \(missing.errors)")
      #expect(missing.output.contains("\"status\":\"missing\""), "\(missing.output)")

      _ = try await host.terminate()
      try host.directory.folder("litter")
      try host.directory.file("litter/old", "x")
      try await host.start()
      let found = try await host.cli("submit", Self.identifier, "--wait")
      #expect(found.output.contains("\"removed\":1"), "\(found.output) \(found.errors)")
      #expect(try names(host) == [])
    }
  }

  @Test(
    "a directory that belongs to somebody else and cannot be searched names its user",
    .enabled(if: geteuid() == 0, "needs the right to chown"))
  func foreignDirectory() async throws {
    try await withPlugin(rule: "glob = \"**/*\"\nmax_age = \"0s\"") { host in
      try host.directory.folder("litter/theirs")
      try host.directory.file("litter/theirs/old", "x")
      try host.directory.file("litter/ours", "x")
      let theirs = host.directory("litter/theirs")
      #expect(chown(theirs, 65_534, 65_534) == 0 && chmod(theirs, 0o700) == 0)
      let result = try await host.cli("submit", Self.identifier, "--wait")
      #expect(result.output.contains("\"unsearched\":1"), "\(result.output) \(result.errors)")
      #expect(result.output.contains("\"other_users\":[\""), "\(result.output)")
    }
  }
}
