import Foundation
import Glibc
import PostgresTestSupport
import TestSupport
import Testing

/// `taskhost fleet export`: what lives in a fleet goes into the store of a host alone, or into another fleet.
@Suite("Fleet: export", .timeLimit(.minutes(10)))
struct FleetExportTests {
  /// Says what it got, and fails if that asks for it.
  private static let job = """
    IFS= read -r line; echo "@HOST@ $line" > @PIPE@
    case $line in *fail*) exit 1;; esac
    printf '{"o":1}'
    """

  /// The states and unique keys of the requests of `job`, and its ids by them.
  private static func listed(_ host: HostProcess) async throws -> [String: String] {
    let listed = try await host.json("tasks", "list", "--identifier", "job")["requests"]?.array ?? []
    return Dictionary(
      listed.map { ("\($0["state"]?.string ?? "") \($0["unique_key"]?.string ?? "")", $0["id"]?.string ?? "") }
    ) { first, _ in first }
  }

  @Test("what lives in a fleet runs in the store of a host alone, with keys, graphs, dead letters and pauses")
  func alone() async throws {
    let fleet = try await FleetGround()
    try await HostProcess.prepare { first in
      try await HostProcess.prepare { second in
        let lines = try fleet.reader()
        try first.configure(fleet.configuration("a", job: Self.job, keys: "stdout = \"output\""))
        try second.configure(fleet.configuration("b", job: Self.job, keys: "stdout = \"output\"", isInFleet: false))
        try await FleetGround.joined(first)
        let ended = try await FleetGround.submit(first, "--payload", "{\"n\":1}", "--idempotency-key", "once")
        #expect(try lines.line() == "a {\"n\":1}")
        try await first.request(ended, is: "succeeded")
        let letter = try await FleetGround.submit(first, "--payload", "{\"fail\":0}")
        #expect(try lines.line() == "a {\"fail\":0}")
        try await first.request(letter, is: "failed")
        let waiting = try await FleetGround.submit(
          first, "--on-event", "go", "--payload", "{\"n\":2}", "--key", "k", "--on-conflict", "keep")
        let last = try await FleetGround.submit(first, "--follows", waiting, "--follows", ended, "--payload", "{\"n\":3}")
        try fleet.server.run("SELECT taskhost.submit('job', delay_ms => 86400000)", on: fleet.address)
        let paused = try await first.cli("pause", "--fleet", "identifier:job", "--why", "moving")
        #expect(paused.status == 0, "\(paused)")
        let file = fleet.directory("fleet.jsonl")
        let open = try await fleet.taskhost("export", file)
        #expect(open.status == 6 && open.errors.contains("hosts are there: a"), "\(open)")
        #expect(access(file, F_OK) != 0)
        #expect(try await first.terminate().status == 0)

        let told = try await fleet.json("export", file)
        #expect(told["requests"]?.integer == 5 && told["file"]?.string == file, "\(told)")
        // The same by standard output: equal fleets have equal exports.
        let text = try await fleet.taskhost("export")
        #expect(text.status == 0 && Data(text.output.utf8) == FileManager.default.contents(atPath: file), "\(text)")
        let imported = try await second.cli("store", "import", file)
        #expect(imported.status == 0, "\(imported)")
        try await second.start()
        let listed = try await Self.listed(second)
        #expect(
          listed == ["succeeded ": ended, "failed ": letter, "pending k": waiting, "blocked ": last, "pending ": listed["pending "] ?? ""])
        #expect(try await FleetGround.submit(second, "--payload", "{\"n\":9}", "--key", "k", "--on-conflict", "keep") == waiting)
        #expect(try await FleetGround.submit(second, "--payload", "{\"n\":1}", "--idempotency-key", "once") == ended)
        // The pause came along.
        #expect(try await second.cli("notify", "go").status == 0)
        let why = try await second.cli("tasks", "why", waiting)
        #expect(why.output.contains("moving"), "\(why)")
        #expect(try await second.cli("resume", "1").status == 0)
        #expect(try lines.line() == "b {\"n\":2}")
        let follower = try lines.line()
        #expect(["b {\"n\":3,\"o\":1}", "b {\"o\":1,\"n\":3}"].contains(follower), "\(follower)")
        try await second.request(last, is: "succeeded")
        #expect(try await second.cli("tasks", "retry", letter).status == 0)
        #expect(try lines.line() == "b {\"fail\":0}")
        #expect(try await second.terminate().status == 0)
        // In its old fleet, it would take its own for the fleet's.
        try second.configure(fleet.configuration("b", job: Self.job))
        let refused = try await second.failure()
        #expect(refused.status == 78 && refused.errors.contains("the store is an export of this fleet"), "\(refused)")
      }
    }
  }

  @Test("what lives in a fleet goes into another one")
  func other() async throws {
    let (fleet, other) = (try await FleetGround(), try await FleetGround())
    try fleet.server.run("SELECT taskhost.register('a', 'test', '{}', '{job}')", on: fleet.address)
    for number in 1...120 {
      try fleet.server.run("SELECT taskhost.submit('job', payload => '{\"n\":\(number)}', unique_key => 'k\(number)')", on: fleet.address)
    }
    try fleet.server.run("DELETE FROM taskhost.host", on: fleet.address)
    // A plugin's own key, beside the same one of a client.
    try fleet.server.run(
      """
      INSERT INTO taskhost.idempotency (key, fingerprint, request, since)
      SELECT key, 7, id, taskhost.now_ms() FROM (SELECT min(id) AS id FROM taskhost.request) r, unnest('{once,plugin:a.b:once}'::text[]) AS u (key)
      """, on: fleet.address)
    let export = try await fleet.taskhost("export")
    #expect(export.status == 0, "\(export)")
    #expect(export.output.contains(#""kind":"submission","plugin":"a.b","idempotency_key":"once""#), "\(export.output.suffix(1000))")
    let moved = try await Program.run(
      try BuiltProgram.taskhost, ["fleet", "import", "--url", other.address, "--identifier", "*", "--json"], input: Data(export.output.utf8)
    )
    #expect(try moved.status == 0 && JSON(parsing: moved.output)["requests"]?.integer == 120, "\(moved)")
    let keys = "SELECT string_agg(unique_key || ' ' || convert_from(payload, 'UTF8'), ',' ORDER BY id) FROM taskhost.request"
    #expect(try other.server.run(keys, on: other.address) == fleet.server.run(keys, on: fleet.address))
    let known = "SELECT string_agg(key, ',' ORDER BY key) FROM taskhost.idempotency WHERE fingerprint = 7"
    #expect(try other.server.run(known, on: other.address) == "once,plugin:a.b:once")
    #expect(try other.server.run("SELECT count(*) FROM taskhost.ready", on: other.address) == "120")
  }

  @Test("what a host that is gone holds is not exported before another one has acted on it")
  func unrest() async throws {
    let fleet = try await FleetGround()
    try fleet.server.run(
      """
      SELECT taskhost.register('gone', 'test', '{}', '{job}');
      SELECT taskhost.submit('job');
      SELECT l.id FROM taskhost.host h, taskhost.look(
        h.incarnation, ARRAY(SELECT id::bigint FROM taskhost.lane), '{1}', '{1}', '{0}', '{0}', '{0}', '{0}', '{0}') l;
      UPDATE taskhost.host SET lease_until = 0
      """, on: fleet.address)
    let held = try await fleet.taskhost("export")
    #expect(held.status == 6 && held.output.isEmpty && held.errors.contains("1 request wait"), "\(held)")
    try fleet.server.run("SELECT taskhost.fence_silent(ARRAY[incarnation::text], ARRAY[renewals]) FROM taskhost.host", on: fleet.address)
    #expect(try await fleet.taskhost("export").status == 0)
  }
}
