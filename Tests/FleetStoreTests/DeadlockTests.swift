import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

@testable import FleetStore

@Suite("Deadlocks in a fleet's database", .timeLimit(.minutes(2))) struct DeadlockTests {
  @Test("a transaction that the database fails because of a deadlock is made again")
  func again() async throws {
    let fleet = try TestFleet()
    try fleet.server.run("CREATE TABLE public.t (id int PRIMARY KEY, n int); INSERT INTO public.t VALUES (1, 0), (2, 0)", on: fleet.address)
    let other = try LineProgram(["/usr/bin/psql", "-X", "-q", "-A", "-t", "-d", fleet.address])
    // So that the other one is found first.
    try other.say("SET deadlock_timeout = '1min'; BEGIN; UPDATE public.t SET n = n + 1 WHERE id = 1; SELECT 'begun';")
    #expect(try other.line() == "begun")
    let address = fleet.address
    async let added = onThread {
      let updates = [2, 1].map { PostgresStatement("UPDATE public.t SET n = n + 10 WHERE id = \($0)") }
      return try FleetSession(address, name: "victim").ask(updates).count
    }
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'"
    let end = ContinuousClock.now + .seconds(30)
    while try fleet.server.run(waiting, on: fleet.address) != "1" {
      guard ContinuousClock.now < end else { throw TestFailure("nobody waits") }
    }
    try other.say("UPDATE public.t SET n = n + 1 WHERE id = 2; SELECT 'both';")
    #expect(try other.line() == "both")
    try other.say("COMMIT; SELECT 'over';")
    #expect(try other.line() == "over")
    #expect(try await added == 2)
    #expect(try fleet.server.run("SELECT string_agg(n::text, ',') FROM public.t", on: fleet.address) == "11,11")
  }
}
