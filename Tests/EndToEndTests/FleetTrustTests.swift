import Foundation
import Glibc
import PostgresTestSupport
import TestSupport
import Testing

/// What others may do in the database of a fleet.
@Suite("Fleet: others in its database", .timeLimit(.minutes(5)))
struct FleetTrustTests {
  /// What somebody without any right in the fleet may leave in `public`: functions and operators that fit better than PostgreSQL's own, each
  /// of which notes as whom it runs.
  private static let traps = """
    CREATE TABLE public.loot (trap text, victim text); GRANT INSERT ON public.loot TO PUBLIC;
    CREATE FUNCTION public.note(trap text) RETURNS void LANGUAGE sql AS
      $$ INSERT INTO public.loot SELECT trap, current_user $$;
    CREATE FUNCTION public.cardinality(a text[]) RETURNS int LANGUAGE plpgsql AS
      $$ BEGIN PERFORM public.note('cardinality'); RETURN pg_catalog.cardinality(a); END $$;
    CREATE FUNCTION public.cardinality(a bigint[]) RETURNS int LANGUAGE plpgsql AS
      $$ BEGIN PERFORM public.note('cardinality'); RETURN pg_catalog.cardinality(a); END $$;
    CREATE FUNCTION public.unnest(a text[]) RETURNS SETOF text LANGUAGE plpgsql AS
      $$ BEGIN PERFORM public.note('unnest'); RETURN QUERY SELECT pg_catalog.unnest(a); END $$;
    CREATE FUNCTION public.unnest(a bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql AS
      $$ BEGIN PERFORM public.note('unnest'); RETURN QUERY SELECT pg_catalog.unnest(a); END $$;
    CREATE FUNCTION public.times(a numeric, b int) RETURNS numeric LANGUAGE plpgsql AS
      $$ BEGIN PERFORM public.note('*'); RETURN a OPERATOR(pg_catalog.*) b; END $$;
    CREATE OPERATOR public.* (leftarg = numeric, rightarg = int, function = public.times);
    CREATE FUNCTION public.same(a text, b text) RETURNS boolean LANGUAGE plpgsql AS
      $$ BEGIN PERFORM public.note('='); RETURN a OPERATOR(pg_catalog.=) b; END $$;
    CREATE OPERATOR public.= (leftarg = text, rightarg = text, function = public.same);
    CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS
      $$ BEGIN PERFORM public.note('clock'); RETURN pg_catalog.clock_timestamp(); END $$;
    """

  /// Which traps have caught whom.
  private static func loot(_ fleet: FleetGround) throws -> String {
    try fleet.server.run(
      "SET search_path = pg_catalog; SELECT coalesce(string_agg(DISTINCT trap || ' as ' || victim, ', '), 'none') FROM public.loot",
      on: fleet.address)
  }

  /// Does everything that hosts do, at `address`.
  private static func work(_ fleet: FleetGround, at address: String) async throws {
    try await HostProcess.prepare { host in
      let lines = try fleet.reader()
      try host.configure(fleet.configuration("a", job: "echo ran > @PIPE@").replacing(fleet.address, with: address))
      try await FleetGround.joined(host)
      let id = try await FleetGround.submit(host, "--key", "k")
      #expect(try lines.line() == "ran")
      try await host.request(id, is: "succeeded")
      #expect(
        try await host.post("/v1/requests", #"[{"identifier":"job","delay_ms":90000000,"tags":["t"]},{"identifier":"job"}]"#).status == 201)
      #expect(try lines.line() == "ran")
      #expect(try await host.cli("tasks", "cancel", "--tag", "t").status == 0)
      for command in ["status", "hosts", "doctor"] {
        _ = try await Program.run(try BuiltProgram.taskhost, ["fleet", command, "--url", address])
      }
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test("functions and operators that others leave in public never run as the hosts' user", arguments: [false, true])
  func traps(isFirst: Bool) async throws {
    let fleet = try await FleetGround()
    let name = fleet.address.split(separator: "dbname=").last ?? ""
    try fleet.server.run(Self.traps, on: fleet.address)
    if isFirst { try fleet.server.run("ALTER DATABASE \(name) SET search_path = public, pg_catalog", on: fleet.address) }
    try await Self.work(fleet, at: fleet.address)
    #expect(try await fleet.taskhost("init").status == 0)
    #expect(try Self.loot(fleet) == "none")
    // Whoever calls a function of the fleet is as safe.
    try fleet.server.run("SELECT taskhost.requeue_fenced(), taskhost.keep_days()", on: fleet.address)
    #expect(try Self.loot(fleet) == "none")
  }

  @Test("functions that search other schemas are told of")
  func openFunctions() async throws {
    let fleet = try await FleetGround()
    try fleet.server.run("ALTER FUNCTION taskhost.late() RESET search_path", on: fleet.address)
    let told = try await fleet.taskhost("doctor")
    #expect(told.output.contains("✗ database: 1 of the fleet's functions are of an earlier build"), "\(told)")
    #expect(try await fleet.taskhost("init").status == 0)
    #expect(try await !fleet.taskhost("doctor").output.contains("earlier build"))
  }

  @Test("what hosts and fleet init make belongs to the schema's owner, whoever they connect as")
  func ownership() async throws {
    let fleet = try await FleetGround()
    let member = "member_\(UInt32.random(in: 0 ... .max))"
    try fleet.server.run("CREATE ROLE \(member) LOGIN IN ROLE taskhost", on: fleet.address)
    let address = fleet.address.replacing("user=taskhost", with: "user=\(member)")
    #expect(address != fleet.address)
    let foreign = "SELECT count(*) FROM pg_class WHERE relnamespace = 'taskhost'::regnamespace AND relowner <> 'taskhost'::regrole"
    try fleet.server.run(
      "DO $$ BEGIN EXECUTE format('DROP TABLE taskhost.run_%s', taskhost.now_ms() / 86400000 + 1); END $$", on: fleet.address)
    try fleet.server.run("SELECT taskhost.keep_days()", on: address)
    #expect(try fleet.server.run(foreign, on: fleet.address) == "0")
    try fleet.server.run("DROP FUNCTION taskhost.late(); DROP TABLE taskhost.repeating", on: fleet.address)
    let made = try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", address])
    #expect(made.status == 0, "\(made)")
    #expect(try fleet.server.run(foreign, on: fleet.address) == "0")
    // An earlier build gave some to the member, which could not be dropped then.
    try fleet.server.run(
      "GRANT CREATE ON SCHEMA taskhost TO \(member); ALTER FUNCTION taskhost.late() OWNER TO \(member); "
        + "ALTER TABLE taskhost.edge OWNER TO \(member); REVOKE CREATE ON SCHEMA taskhost FROM \(member)", on: fleet.address)
    #expect(try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", address]).status == 0)
    try fleet.server.run("DROP ROLE \(member)", on: fleet.address)
  }

  @Test("partitions of the history are nobody else's, whatever privileges new tables get by default")
  func partitions() async throws {
    let fleet = try await FleetGround()
    try fleet.server.run(
      "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC; "
        + "DO $$ BEGIN EXECUTE format('DROP TABLE taskhost.run_%s', taskhost.now_ms() / 86400000 + 1); END $$; SELECT taskhost.keep_days()",
      on: fleet.address)
    let open = """
      SELECT count(*) FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
      WHERE c.relnamespace = 'taskhost'::regnamespace AND a.grantee = 0
      """
    #expect(try fleet.server.run(open, on: fleet.address) == "0")
  }

  @Test("nor behind a pool of connections", .enabled(if: PgBouncer.isThere, "needs pgbouncer"))
  func pool() async throws {
    let fleet = try await FleetGround()
    let name = fleet.address.split(separator: "dbname=").last ?? ""
    try fleet.server.run(Self.traps, on: fleet.address)
    try fleet.server.run("ALTER DATABASE \(name) SET search_path = public, pg_catalog", on: fleet.address)
    try await PgBouncer.pooling(fleet.server, database: fleet.address) { try await Self.work(fleet, at: $0) }
    #expect(try Self.loot(fleet) == "none")
  }
}
