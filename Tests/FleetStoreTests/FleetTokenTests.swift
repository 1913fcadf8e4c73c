import PostgresTestSupport
import TaskModel
import TestSupport
import Testing

@testable import FleetStore

/// Fencing tokens only grow, whatever becomes of the server.
@Suite("Fencing tokens of a fleet") struct FleetTokenTests {
  /// The token of the next claim.
  private func token(_ fleet: TestFleet) throws -> Int64 {
    try #require(Int64(try fleet.server.run("SELECT nextval('taskhost.epoch')", on: fleet.address)))
  }

  @Test func theyGoOnWhereNothingHasChanged() throws {
    let fleet = try TestFleet()
    #expect(try token(fleet) == 1)
    try fleet.session.recogniseServer()
    #expect(try token(fleet) == 2)
  }

  @Test func theyGoOnFarAboveAfterAPromotionOrARestore() throws {
    let fleet = try TestFleet()
    try fleet.server.run("UPDATE taskhost.fleet SET server = 'another/00000001/1'", on: fleet.address)
    try fleet.session.recogniseServer()
    let first = try token(fleet)
    #expect(first > 1_000_000_000)
    try fleet.session.recogniseServer()
    #expect(try token(fleet) == first + 1)
  }

  @Test func theyGoOnFarAboveInARestoredDump() async throws {
    let fleet = try TestFleet()
    let copy = try fleet.server.makeDatabase()
    let dump = "pg_dump -d '\(fleet.address)' | psql -X -q -o /dev/null -v ON_ERROR_STOP=1 -d '\(copy)'"
    let restored = try await Program.run("/bin/bash", ["-c", "set -o pipefail; \(dump)"])
    #expect(restored.status == 0, "\(restored)")
    try FleetSession(copy, name: "copy").recogniseServer()
    #expect(try fleet.server.run("SELECT nextval('taskhost.epoch') > 1000000000", on: copy) == "t")
  }

  @Test func aServerThatDoesNotSayWhatItIsLeavesThem() throws {
    let fleet = try TestFleet()
    let role = "mute_\(UInt32.random(in: 0 ... .max))"
    try fleet.server.run(
      """
      REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC; UPDATE taskhost.fleet SET server = 'another/00000001/1';
      CREATE ROLE \(role); GRANT ALL ON ALL TABLES IN SCHEMA taskhost TO \(role); GRANT ALL ON ALL SEQUENCES IN SCHEMA taskhost TO \(role);
      GRANT ALL ON ALL FUNCTIONS IN SCHEMA taskhost TO \(role); SET ROLE \(role); SELECT taskhost.recognise()
      """, on: fleet.address)
    #expect(try token(fleet) == 1)
    try fleet.server.run("DROP OWNED BY \(role); DROP ROLE \(role)", on: fleet.address)
  }
}
