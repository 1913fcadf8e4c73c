import PostgresTestSupport
import TaskModel
import Testing

@testable import FleetStore

/// Pauses of the whole fleet, which its database enforces.
@Suite("Fleet: pauses, in the database")
struct FleetPauseTests {
  private let fleet: TestFleet
  private let host: String

  init() throws {
    fleet = try TestFleet()
    host = try fleet.join()
  }

  private func pause(_ filter: String = "", _ pattern: String? = nil, until: WallTime? = nil) throws -> Pause {
    let order = PauseOrder(filter: filter, by: "anna", user: 7, reason: "moving", until: until, isOfFleet: true)
    return try fleet.session.add(order, of: try pattern.map { [try IdentifierPattern($0)] } ?? [])
  }

  private func look(_ mark: String? = nil) throws -> FleetExchange {
    try fleet.session.exchange(host, settling: [], wanting: [], pauses: mark)
  }

  @Test("no host claims what a pause selects until it has ended, and another pause holds nothing", arguments: [nil, "org.example.*"])
  func holds(_ pattern: String?) throws {
    let ids = try fleet.session.enqueue([fleet.draft(), fleet.draft()])
    // In LIKE, these would be patterns.
    for other in ["org.example.other", "org_example_fleet", "org.example.flee_", "org.example.fleet.*"] {
      _ = try pause("identifier:\(other)", other)
    }
    #expect(try fleet.claim(host, 1).map(\.id) == [ids[0]])
    let made = try pause(pattern.map { "identifier:\($0)" } ?? "", pattern)
    #expect(made.id >= FleetPauses.firstID && made.order.by == "anna")
    #expect(try fleet.claim(host, 1).isEmpty)
    #expect(try fleet.session.pauses().last == made)
    #expect(try fleet.session.end([made]) == [made])
    #expect(try fleet.session.end([made]) == [])
    #expect(try fleet.claim(host, 1).map(\.id) == [ids[1]])
  }

  @Test("a pause ends by the database's clock, and hosts look then")
  func time() throws {
    let ids = try fleet.session.enqueue([fleet.draft()])
    let now = try #require(try look().at)
    _ = try pause(until: now + .seconds(3600))
    #expect(try fleet.claim(host, 1).isEmpty)
    let rest = try #require(try look().nextDue)
    #expect(rest > .seconds(3500) && rest <= .seconds(3600))
    try fleet.server.run("UPDATE taskhost.pause SET until = taskhost.now_ms() - 1", on: fleet.address)
    #expect(try look().nextDue == nil)
    #expect(try fleet.session.pauses().isEmpty)
    #expect(try fleet.claim(host, 1).map(\.id) == ids)
    try fleet.session.clean()
    #expect(try fleet.server.run("SELECT count(*) FROM taskhost.pause", on: fleet.address) == "0")
  }

  @Test("a host is told of the pauses when they are others than those that it knows")
  func marks() throws {
    #expect(try look().pauses == nil)
    let none = try #require(try look("").pauses)
    #expect(none.pauses.isEmpty)
    #expect(try look(none.mark).pauses == nil)
    let first = try pause("identifier:a", "a")
    let one = try #require(try look(none.mark).pauses)
    #expect(one.pauses == [first])
    #expect(try look(one.mark).pauses == nil)
    let second = try pause()
    _ = try fleet.session.end([first])
    let other = try #require(try look(one.mark).pauses)
    #expect(other.pauses == [second] && other.mark != one.mark)
    _ = try fleet.session.end([second])
    #expect(try look(other.mark).pauses?.pauses == [])
  }
}
