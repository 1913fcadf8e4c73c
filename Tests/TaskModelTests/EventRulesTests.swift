import TaskModel
import Testing

@Suite("The events that a plugin may raise") struct EventRulesTests {
  private static let plugin = named("org.example.sync")
  private static let second = named("org.example.sync-photos")

  private static func named(_ text: String) -> TaskIdentifier {
    guard let identifier = try? TaskIdentifier(text) else { preconditionFailure("\(text) is not an identifier") }
    return identifier
  }

  private func status(_ event: String, from plugin: TaskIdentifier = Self.plugin, _ patterns: String...) throws -> CallFailure.Status? {
    let rules = EventRules(others: [plugin: try patterns.map { try EventPattern($0) }])
    do throws(CallFailure) { try rules.check(event, from: plugin, own: [plugin, Self.second]) } catch { return error.status }
    return nil
  }

  @Test(
    "its identifiers, and names below them",
    arguments: ["org.example.sync", "org.example.sync.done", "org.example.sync.", "org.example.sync-photos.ü"])
  func own(_ event: String) throws { #expect(try status(event) == nil) }

  @Test(
    "no name that only begins like it, or is above it",
    arguments: ["org.example", "org.example.syn", "org.example.synced", "org.example.sync:done", "sync.done", "*", "ORG.example.sync"])
  func foreign(_ event: String) throws { #expect(try status(event) == .notPermitted) }

  @Test(
    "none of the host's, whatever the configuration says",
    arguments: ["task:org.example.sync", "task:org.example.sync:failed", "condition:power", "host:launched"])
  func ofHost(_ event: String) throws { #expect(try status(event, "*", "t*", "c*", "h*") == .notPermitted) }

  @Test(
    "nothing that is no name", arguments: ["", "file:/etc/passwd", "org.example.sync.\n", "condition:none", "host:", "task: "])
  func malformed(_ event: String) throws { #expect(try status(event, "*") == .invalid) }

  @Test("a name is at most 256 bytes long")
  func length() throws {
    let longest = Self.plugin.rawValue + "." + String(repeating: "x", count: Limits.keyBytes - Self.plugin.rawValue.utf8.count - 1)
    #expect(try status(longest) == nil)
    #expect(try status(longest + "x") == .invalid)
  }

  @Test("those of may_notify: complete names, and beginnings")
  func configured() throws {
    #expect(try status("orders", "orders") == nil)
    #expect(try status("orders.new", "orders") == .notPermitted)
    #expect(try status("orders.new", "orders.*") == nil)
    #expect(try status("orders", "orders.*") == .notPermitted)
    #expect(try status("anything at all", "*") == nil)
  }

  @Test("a plugin that comes with the host names its events by the last part of its identifier")
  func builtIn() throws {
    let tokens = Self.named("org.taskhost.token-refresh")
    #expect(try status("token-refresh.signed-in", from: tokens) == nil)
    #expect(try status("org.taskhost.token-refresh.signed-in", from: tokens) == nil)
    #expect(try status("token-refresh", from: tokens) == .notPermitted)
    #expect(try status("transfers.done", from: tokens) == .notPermitted)
    #expect(try status("taskhost.done", from: Self.named("org.taskhost")) == .notPermitted)
    #expect(try status("sync.done", from: Self.plugin) == .notPermitted)
    for stranger in ["org.taskhost.foo", "org.taskhost.samples.hello-c", "org.taskhost.token-refresh.evil"] {
      let name = stranger.dropFirst("org.taskhost.".count)
      #expect(try status("\(name).done", from: Self.named(stranger)) == .notPermitted, "\(stranger)")
      #expect(try status("\(stranger).done", from: Self.named(stranger)) == nil)
    }
  }

  @Test(
    "a pattern that no event can match is refused",
    arguments: ["", "host:*", "task:org.example", "condition:power", "file:/x", "a\n*"])
  func patterns(_ text: String) { #expect(throws: RequestRefusal.self) { try EventPattern(text) } }
}
