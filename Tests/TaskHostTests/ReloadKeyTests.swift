import Testing

@testable import TaskHost

/// What a reload says of the keys of two versions of a file.
@Suite("Keys of a reload") struct ReloadKeyTests {
  private func configuration(_ text: String) throws -> HostConfiguration { try HostConfiguration.parse(text, file: "/etc/t.toml") }

  private func changes(_ before: String, _ after: String) throws -> [WrittenKeys.Change] {
    try configuration(before).written.changes(to: configuration(after).written)
  }

  @Test("each key that has come, gone or changed is named with its tables, and what stays is not")
  func changes() throws {
    let before = "max_pending = 5\nmax_concurrent_runs = 3\n[plugin.\"a.b\"]\nbudget = \"1m\"\nresources = {}\n"
    let after = "max_pending = 6\n[plugin.\"a.b\"]\nbudget = \"1m\"\n[[notify]]\non = [\"failed\"]\ntask = \"x\"\n"
    let found = try changes(before, after).map { "\($0.path): \($0.shownBefore ?? "-") \($0.shownAfter ?? "-")" }
    #expect(
      found == [
        "max_concurrent_runs: 3 -", "max_pending: 5 6", "notify[0].on: - [\"failed\"]", "notify[0].task: - \"x\"",
        "plugin.\"a.b\".resources: {} -",
      ])
    #expect(try changes(before, before).isEmpty)
    #expect(try changes("# a comment\n" + before, before).isEmpty)
  }

  @Test("settings, payloads, variables and addresses may be secrets, however deep; long values are cut")
  func secrets() throws {
    let text = """
      [plugin.a]
      settings = { key = "s", deep = { url = 1 } }
      environment = ["TOKEN"]
      ping = "https://example.org/s"
      [schedule."a/n"]
      every = "1h"
      payload = { word = "s" }
      [[notify]]
      on = ["failed"]
      url = "https://example.org/s"
      [traces]
      endpoint = "https://example.org/s"
      """
    let found = try changes("", text)
    let open = found.filter { !$0.isSecret }.map(\.path.description)
    #expect(open == ["notify[0].on", "schedule.\"a/n\".every"])
    #expect(found.count == 8, "the settings are one value")
    let long = try changes("", "redact = [\"\(String(repeating: "a", count: 5000))\"]")
    #expect(long.first?.shownAfter?.count == 201)
  }

  @Test("what only a restart changes is named key by key; a value that is written out and the default is no change")
  func restart() throws {
    let before = try configuration("")
    let after = try configuration(
      "state_directory = \"s\"\nstore_mark = \"m\"\nmax_pending = 3\n[control]\nmode = \"0660\"\n[log]\nlevel = \"debug\"\n")
    let names = before.keysThatNeedRestart(for: after, among: before.written.changes(to: after.written))
    #expect(names == ["state_directory", "store_mark", "control.mode", "log.level"])
    let same = try configuration("[log]\nlevel = \"info\"\n[control]\nmode = \"0600\"\n")
    #expect(before.keysThatNeedRestart(for: same, among: before.written.changes(to: same.written)).isEmpty)
  }
}
