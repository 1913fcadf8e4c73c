import Glibc
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

  @Test(
    "a change that is less is a loss of what has gone, and of nothing else",
    arguments: [
      (entitled("network = [443, 80]"), entitled("network = [443]"), "it may connect to the ports 80"),
      (entitled("network = [443]"), "", "it may connect to the ports 443"), (entitled("exec = true"), "", "it may start programs"),
      ("[plugin.a]\nenvironment = [\"PATH\", \"HOME\"]", "[plugin.a]\nenvironment = [\"HOME\"]", "it gets the environment variables PATH"),
    ])
  func losses(_ before: String, _ after: String, _ sentence: String) throws {
    let (old, new) = (try Self.permissions(before), try Self.permissions(after))
    #expect(new.gained(over: old).isEmpty && new.lost(since: old) == [sentence])
    #expect(old.gained(over: new) == [sentence] && old.lost(since: new).isEmpty)
  }

  @Test("a command runs as a user: what it gains and loses with another one", .enabled(if: geteuid() == 0))
  func users() throws {
    func command(_ lines: String) throws -> PluginPermissions { try Self.permissions("[command.a]\nrun = [\"/bin/true\"]\n\(lines)\n") }
    let (host, nobody, daemon) = (try command(""), try command("user = \"nobody\""), try command("user = \"daemon\""))
    let boxed = try command("entitlements = { read = [\"/srv\"] }")
    #expect(host.sentences == ["it runs as root and may do whatever the host may"])
    #expect(nobody.sentences == ["it runs as nobody and may do whatever that user may"])
    let root = try command("user = \"root\"")
    #expect(root == host)
    #expect(host.gained(over: nobody) == ["it runs as root instead of nobody"] && host.lost(since: nobody).isEmpty)
    #expect(nobody.gained(over: host).isEmpty && nobody.lost(since: host) == host.sentences)
    #expect(nobody.gained(over: daemon) == ["it runs as nobody instead of daemon"] && nobody.lost(since: daemon).isEmpty)
    #expect(boxed.gained(over: nobody).contains("it may read /srv") && boxed.lost(since: nobody) == nobody.sentences)
    #expect(nobody.gained(over: boxed) == nobody.sentences && boxed.gained(over: host).isEmpty)
    let more = try command("environment = [\"PATH\", \"HOME\"]")
    #expect(more.gained(over: host) == ["it gets the environment variables PATH, HOME"] && more.lost(since: host).isEmpty)
    #expect(more.gained(over: nobody).count == 2 && nobody.lost(since: more) == [host.sentences, [more.sentences[1]]].flatMap(\.self))
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
