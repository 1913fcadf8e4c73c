import Foundation
import TestSupport
import Testing

/// What a reload tells of files behind unchanged paths, and what it leaves behind.
@Suite("Rest of a reload", .timeLimit(.minutes(10)))
struct ReloadRestTests {
  @Test("another key behind the same path is told, with both ids: of a trusted key, and of the store")
  func keys() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      for name in ["vendor", "other"] { #expect(try await host.cli("plugins", "keygen", name).status == 0) }
      #expect(try await host.cli("store", "key", "store.key").status == 0)
      try host.configure(
        """
        [encryption]
        key_file = "store.key"
        [[trusted_keys]]
        file = "vendor.pub"
        identifiers = ["test.vendor"]

        """)
      try await host.start()
      #expect(try await host.cli("reload").output.hasPrefix("nothing has changed"))
      #expect(try await host.cli("store", "key", "store.key").status == 0)
      try FileManager.default.removeItem(atPath: host.directory("vendor.pub"))
      try FileManager.default.moveItem(atPath: host.directory("other.pub"), toPath: host.directory("vendor.pub"))
      for arguments in [["reload", "--dry-run"], ["reload"]] {
        let reloaded = try await host.cli(arguments)
        #expect(reloaded.status == 0 && !reloaded.output.contains("nothing has changed"), "\(reloaded)")
        #expect(reloaded.output.contains("trusted_keys: \(host.directory("vendor.pub")) holds another key: "), "\(reloaded)")
        #expect(reloaded.output.contains("encryption: other keys are in the same place: "), "\(reloaded)")
      }
      #expect(try await host.cli("reload").output.hasPrefix("nothing has changed"))
    }
  }

  @Test("a dry run, and a reload that is refused, leave no copy of a plugin")
  func copies() async throws {
    try await HostProcess.run { host in
      func copies() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: host.directory("state/copies")).sorted() }
      let before = try copies()
      try await host.add("script.so", "script", ["-DALWAYS_ECHO"])
      #expect(try await host.cli("reload", "--dry-run").output.contains("test.script: replaced"))
      #expect(try copies() == before)
      try host.directory.file("plugins/libBroken.so", "no library")
      #expect(try await host.cli("reload").status == 78)
      #expect(try copies() == before)
      try FileManager.default.removeItem(atPath: host.directory("plugins/libBroken.so"))
      #expect(try await host.cli("reload").status == 0)
      #expect(try copies() != before)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }
}
