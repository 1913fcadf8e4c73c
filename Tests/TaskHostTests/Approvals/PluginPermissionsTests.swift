import TaskModel
import Testing

@testable import TaskHost

/// When a plugin may do more than was approved.
@Suite("Permissions of plugins") struct PluginPermissionsTests {
  private static func permissions(_ table: String, of identifiers: [String] = ["a"]) throws -> PluginPermissions {
    let configuration = try HostConfiguration.parse(table, file: "/etc/t.toml")
    return PluginPermissions(of: try identifiers.map { try TaskIdentifier($0) }, in: configuration)
  }

  private static func gained(_ wanted: String, over approved: String) throws -> [String] {
    try permissions(wanted).gained(over: permissions(approved))
  }

  private static func entitled(_ lines: String) -> String { "[plugin.a.entitlements]\n\(lines)\n" }

  @Test(
    "more is said in sentences, each with what is new alone",
    arguments: [
      ("read = [\"/srv/a\"]", "read = [\"/srv/a\", \"/srv/b\"]", "it may read /srv/b"),
      ("read = [\"/srv/a\"]", "write = [\"/srv/a\"]", "it may read and write /srv/a"),
      ("read = [\"/srv/a\"]", "read = [\"/srv/ab\"]", "it may read /srv/ab"),
      ("read = [\"/srv/a\"]", "read = [\"/srv\"]", "it may read /srv"),
      ("read = [\"/srv/a\"]", "read = [\"/srv/a/../b\"]", "it may read /srv/a/../b"),
      ("", "network = [443]", "it may connect to the ports 443"),
      ("network = [443]", "network = [443, 25, 80]", "it may connect to the ports 25, 80"),
      ("network = [443]", "network = \"connect\"", "it may connect to any address and port"),
      ("", "exec = true", "it may start programs"),
    ])
  func more(_ before: String, _ after: String, _ sentence: String) throws {
    #expect(try Self.gained(Self.entitled(after), over: Self.entitled(before)) == [sentence])
  }

  @Test(
    "less and the same is no gain",
    arguments: [
      ("write = [\"/srv\"]", "read = [\"/srv/a\"]"), ("write = [\"/srv\"]", "write = [\"/srv/a\"]"),
      ("network = \"connect\"", "network = [443]"), ("network = [443, 80]", "network = [443]"), ("exec = true", "exec = false"),
      ("exec = true\nread = [\"/srv\"]", ""),
    ])
  func less(_ before: String, _ after: String) throws {
    #expect(try Self.gained(Self.entitled(after), over: Self.entitled(before)).isEmpty)
    #expect(try !Self.gained(Self.entitled(before), over: Self.entitled(after)).isEmpty)
  }

  @Test("every key of a plugin's table that lets its code do more is a gain")
  func keys() throws {
    let tables = [
      "[plugin.a]\nisolation = \"thread\"", "[plugin.a]\nenvironment = [\"TOKEN\"]", "[plugin.a]\nmay_submit = [\"b.*\"]",
      "[plugin.a]\nmay_notify = [\"door\"]", "[plugin.a]\nmay_transfer = true", "[plugin.a]\nmay_wake = true",
      "[plugin.a.limits]\nmemory = \"1GiB\"", "[plugin.a.limits]\nprocesses = 64", "[plugin.a.limits]\ndescriptors = 1024",
      "[plugin.a.limits.cpu]\nshare = 200",
    ]
    for table in tables {
      #expect(try Self.gained(table, over: "").count == 1, "\(table)")
      #expect(try Self.gained("", over: table).isEmpty, "\(table)")
      #expect(try Self.gained(table, over: table).isEmpty, "\(table)")
    }
    #expect(try Self.gained("[plugin.a]\nmay_submit = [\"b.c\"]", over: "[plugin.a]\nmay_submit = [\"b.*\"]").isEmpty)
    #expect(try Self.gained("[plugin.a]\nmay_notify = [\"*\"]", over: "[plugin.a]\nmay_notify = [\"door*\"]").count == 1)
    #expect(try Self.gained(Self.entitled("exec = true"), over: "[plugin.a]\nisolation = \"thread\"").isEmpty)
  }

  @Test("one more identifier is a gain, and what any of the tables gives counts, whichever comes first")
  func identifiers() throws {
    let table = Self.entitled("read = [\"/srv\"]") + "[plugin.b.entitlements]\nexec = true\n"
    let (one, both) = (try Self.permissions(table), try Self.permissions(table, of: ["b", "a"]))
    #expect(both.gained(over: one) == ["it also serves b", "it may start programs"])
    #expect(one.gained(over: both).isEmpty)
    #expect(try Self.permissions(table, of: ["a", "b"]).fingerprint == both.fingerprint)
  }

  @Test("the fingerprint is the same for the same permissions, in whatever order, and another one for any others")
  func fingerprint() throws {
    let first = try Self.permissions(Self.entitled("read = [\"/a\", \"/b\"]\nnetwork = [1, 2]")).fingerprint
    #expect(try Self.permissions(Self.entitled("read = [\"/b\", \"/a\"]\nnetwork = [2, 1]")).fingerprint == first)
    #expect(try Self.permissions(Self.entitled("read = [\"/b\", \"/a\"]\nnetwork = [2]")).fingerprint != first)
  }
}
