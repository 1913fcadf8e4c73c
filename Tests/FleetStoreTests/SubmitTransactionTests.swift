import HostThreads
import PostgresTestSupport
import TaskModel
import TaskStore
import TestSupport
import Testing

@testable import FleetStore

/// `taskhost.submit` within transactions, and who may call it.
struct SubmitTransactionTests {
  private func connect(_ address: String, as user: String? = nil) throws -> PostgresConnection {
    try PostgresConnection(address + (user.map { " user=\($0)" } ?? ""), name: "test")
  }

  private func run(_ connection: PostgresConnection, _ sql: String) throws(PostgresError) -> PostgresRows {
    try connection.run(PostgresStatement(sql), by: SystemClock.now + .seconds(10))
  }

  private func code(_ body: () throws(PostgresError) -> Void) -> String? {
    do throws(PostgresError) {
      try body()
      return nil
    } catch { return error.code }
  }

  @Test("a transaction that is rolled back leaves nothing, and one that is committed leaves the request for a claim")
  func transactions() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let application = try connect(fleet.address)
    _ = try run(application, "CREATE TABLE public.orders (id int PRIMARY KEY)")
    for end in ["ROLLBACK", "COMMIT"] {
      _ = try run(application, "BEGIN")
      _ = try run(application, "INSERT INTO public.orders VALUES (1)")
      let id = try run(application, "SELECT taskhost.submit('org.example.fleet', unique_key => 'k', idempotency_key => 'i')").text(0, 0)
      #expect(try fleet.claim(host, 10).isEmpty)
      _ = try run(application, end)
      let claimed = try fleet.claim(host, 10)
      #expect(claimed.map(\.id.description) == (end == "COMMIT" ? [id] : []))
      #expect(try claimed.allSatisfy { try $0.record.get().request.isUnchecked })
      #expect(try fleet.server.run("SELECT count(*) FROM taskhost.idempotency", on: fleet.address) == (end == "COMMIT" ? "1" : "0"))
    }
  }

  @Test("keys mean the same as for a host")
  func keys() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let application = try connect(fleet.address)
    func submit(_ more: String) throws -> String? {
      try run(application, "SELECT taskhost.submit('org.example.fleet', \(more))").text(0, 0)
    }
    let first = try submit("unique_key => 'k'")
    #expect(try submit("unique_key => 'k', payload => '1'") == first)
    #expect(try fleet.session.enqueue(named: [fleet.draft(key: "k")])[0].known == .held)
    let named = try submit("idempotency_key => 'i', payload => '{\"a\":1}', delay_ms => 100")
    #expect(try submit("idempotency_key => 'i', payload => '{\"a\":1}', delay_ms => 100") == named)
    #expect(
      code { () throws(PostgresError) in
        _ = try run(
          application, "SELECT taskhost.submit('org.example.fleet', idempotency_key => 'i', payload => '{\"a\":2}', delay_ms => 100)")
      } == "TH103")
    // An ended request's key is free again, and its idempotency key is not.
    let claimed = try fleet.claim(host, 10)
    _ = try fleet.session.exchange(host, settling: try claimed.map { try fleet.settled($0, as: .succeeded) }, wanting: [])
    #expect(try submit("unique_key => 'k'") != first)
    #expect(try submit("idempotency_key => 'i', payload => '{\"a\":1}', delay_ms => 100") == named)
  }

  @Test("a key that another transaction holds open is waited for, and repeatable reads end with a serialization failure")
  func concurrent() async throws {
    let fleet = try TestFleet()
    _ = try fleet.join()
    let (first, address) = (try connect(fleet.address), fleet.address)
    _ = try run(first, "BEGIN")
    let id = try run(first, "SELECT taskhost.submit('org.example.fleet', unique_key => 'k')").text(0, 0)
    let second = Task {
      try await onThread {
        let second = try PostgresConnection(address, name: "test")
        return try second.run(
          PostgresStatement("SELECT taskhost.submit('org.example.fleet', unique_key => 'k')"), by: SystemClock.now + .seconds(30)
        ).text(0, 0)
      }
    }
    let third = try connect(fleet.address)
    _ = try run(third, "BEGIN ISOLATION LEVEL REPEATABLE READ")
    _ = try run(third, "SELECT count(*) FROM taskhost.request")
    _ = try run(first, "COMMIT")
    #expect(try await second.value == id)
    #expect(
      code { () throws(PostgresError) in
        _ = try run(third, "SELECT taskhost.submit('org.example.fleet', unique_key => 'k')")
      } == "40001")
  }

  @Test("a lane that a long transaction has drawn is found when it ends, although newer lanes are known")
  func lanes() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    let slow = try connect(fleet.address)
    _ = try run(slow, "BEGIN")
    _ = try run(slow, "SELECT taskhost.submit('org.example.fleet', concurrency_key => 'slow')")
    _ = try run(try connect(fleet.address), "SELECT taskhost.submit('org.example.fleet', concurrency_key => 'quick')")
    func found(besides known: [Int64] = []) throws -> [FleetLane] {
      let search = FleetLaneSearch([fleet.identifier])
      return try fleet.session.exchange(host, settling: [], wanting: [], watching: known, searching: search).search?.lanes ?? []
    }
    let before = try found()
    #expect(before.map(\.lane.gates.concurrencyKey) == ["quick"])
    _ = try run(slow, "COMMIT")
    #expect(try found(besides: before.map(\.id)).map(\.lane.gates.concurrencyKey) == ["slow"])
    #expect(try fleet.session.plainLanes(of: [fleet.identifier]).count == 1, "a host that joins makes the plain lane")
  }

  @Test("a host does not wait for an application that has added a key or a lane and goes on: it is told so, and the next one is added")
  func locked() throws {
    let fleet = try TestFleet()
    _ = try fleet.join()
    let application = try connect(fleet.address)
    _ = try run(application, "BEGIN")
    _ = try run(application, "SELECT taskhost.submit('org.example.fleet', unique_key => 'k', concurrency_key => 'slow')")
    let began = SystemClock.now
    #expect(throws: FleetError.locked) { try fleet.session.enqueue(named: [fleet.draft(key: "k")]) }
    var gates = RunConstraints()
    gates.concurrencyKey = "slow"
    #expect(throws: FleetError.locked) { try fleet.session.lane(Lane(fleet.identifier, gates)) }
    #expect(SystemClock.now - began < .seconds(5))
    #expect(try fleet.session.enqueue(named: [fleet.draft(key: "other")])[0].known == .new)
    _ = try run(application, "ROLLBACK")
    #expect(try fleet.session.enqueue(named: [fleet.draft(key: "k")])[0].known == .new)
  }

  @Test("hosts are notified at the commit, if the submission says so")
  func notified() throws {
    let fleet = try TestFleet()
    _ = try fleet.join()
    try fleet.session.listen()
    let application = try connect(fleet.address)
    _ = try run(application, "BEGIN")
    _ = try run(application, "SELECT taskhost.submit('org.example.fleet')")
    _ = try run(application, "COMMIT")
    #expect(try !fleet.session.wait(waker: -1, until: SystemClock.now + .milliseconds(50)))
    _ = try run(application, "BEGIN")
    _ = try run(application, "SELECT taskhost.submit('org.example.fleet', notify => true)")
    #expect(try !fleet.session.wait(waker: -1, until: SystemClock.now + .milliseconds(50)))
    _ = try run(application, "COMMIT")
    #expect(try fleet.session.wait(waker: -1, until: SystemClock.now + .seconds(10)))
  }

  @Test("a role with EXECUTE on taskhost.submit alone can submit, and can do nothing else")
  func role() throws {
    let fleet = try TestFleet()
    _ = try fleet.join()
    let role = "application_\(UInt32.random(in: 0 ... .max))"
    try fleet.server.run("CREATE ROLE \(role) LOGIN", on: fleet.address)
    defer { _ = try? fleet.server.run("DROP OWNED BY \(role); DROP ROLE \(role)", on: fleet.address) }
    #expect(
      code { () throws(PostgresError) in
        _ = try run(try PostgresConnection(fleet.address + " user=\(role)", name: "t"), "SELECT taskhost.submit('org.example.fleet')")
      } == "42501")
    try fleet.server.run("GRANT EXECUTE ON FUNCTION taskhost.submit TO \(role)", on: fleet.address)
    let application = try connect(fleet.address, as: role)
    let id = try run(application, "SELECT taskhost.submit('org.example.fleet', unique_key => 'k', notify => true)").text(0, 0)
    #expect(id.flatMap { RequestID($0) } != nil)
    let others = try fleet.server.run(
      "SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'taskhost'::regnamespace AND proname <> 'submit' "
        + "AND has_function_privilege('\(role)', oid, 'EXECUTE')", on: fleet.address)
    #expect(others == "")
    let tables = try fleet.server.run(
      "SELECT oid::regclass FROM pg_class WHERE relnamespace = 'taskhost'::regnamespace AND relkind IN ('r', 'p') AND has_table_privilege"
        + "('\(role)', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')", on: fleet.address)
    #expect(tables == "")
    for sql in [
      "SELECT * FROM taskhost.request", "UPDATE taskhost.host SET fenced = 1", "SELECT taskhost.now_ms()",
      "CREATE TABLE taskhost.x (y int)",
      "SELECT nextval('taskhost.id_counter')", "SELECT taskhost.fence_silent('{}', '{}')",
    ] {
      #expect(code { () throws(PostgresError) in _ = try run(application, sql) } == "42501", "\(sql)")
    }
    // Names of its own do not come in between: the function looks only where it should.
    _ = try run(application, "CREATE TEMP TABLE host (identifiers text[])")
    _ = try run(application, "CREATE FUNCTION pg_temp.now_ms() RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'")
    _ = try run(application, "SET search_path = pg_temp, taskhost")
    #expect(try run(application, "SELECT taskhost.submit('org.example.fleet', unique_key => 'k')").text(0, 0) == id)
    // A newer version of the functions keeps what was granted.
    #expect(try FleetSetup.run(fleet.address, historyDays: 1) == .updated(from: 1))
    #expect(try run(application, "SELECT taskhost.submit('org.example.fleet', unique_key => 'k')").text(0, 0) == id)
  }
}
