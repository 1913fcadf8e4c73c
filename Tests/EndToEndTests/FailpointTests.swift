import TestSupport
import Failpoints
import Foundation
import Glibc
import Testing

/// A host that is killed at each named point keeps what it acknowledged and runs nothing again whose success was seen.
@Suite("Failpoints of the host", .timeLimit(.minutes(20)))
struct FailpointTests {
  /// A point, and at which of its hits the host dies.
  struct Case: Sendable, CustomTestStringConvertible {
    let point: Failpoint
    let hit: Int

    var testDescription: String { hit == 1 ? point.rawValue : "\(point.rawValue):\(hit)" }

    /// Every point at its first hit; those that are hit often at later ones too, when there is more to lose.
    static let all = Failpoint.allCases.flatMap { point in
      let later: [Int] =
        switch point {
        case .beforeCommit, .afterCommit: [2, 5, 9, 14]
        case .migrationWritten: [2]
        case .requestInserted: [2, 5, 7]
        case .beforeAnswer, .afterAnswer, .runRecorded, .runOrdered, .outcomeReceived, .outcomeWritten, .outcomeRecorded: [2, 5]
        default: []
        }
      return ([1] + later).map { Case(point: point, hit: $0) }
    }
  }

  @Test("a host that dies at a failpoint keeps what it acknowledged, and no success is run again", arguments: Case.all)
  func dies(_ item: Case) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script", ["-DMAX_RUNS=8"])
      try host.configure(Self.configuration)
      let ledger = Ledger(notes: try host.directory.shared("notes"))
      let workload = FailpointWorkload(host: host, ledger: ledger, notes: try host.directory.shared("notes"))
      if item.point == .lossSettled { try await loseRun(host, ledger) }
      if [.valuesRewritten, .valuesWhole].contains(item.point) { try await seal(host, ledger) }

      try host.spawn(through: ["/usr/bin/env", "\(FailpointTrigger.variable)=\(item.point.rawValue):\(item.hit)"])
      let last = [.valuesRewritten, .valuesWhole].contains(item.point) ? "no other key is needed" : nil
      await drive(workload, fillsLog: [.beforeCheckpoint, .afterCheckpoint].contains(item.point), until: last)
      let end = try await host.end(within: .seconds(60))
      try #require(end.status == -SIGKILL, "no workload reaches \(item.testDescription): the host ended with \(end.status)")
      ledger.close()

      try await host.start()
      // An operator's word about a condition outlives the host.
      _ = try await host.json("conditions", "clear")
      try await workload.post()
      try await expectKept(host, ledger)
      #expect(try await count(of: "array", host).isMultiple(of: 3), "an array is kept whole or not at all")
      #expect(try await count(of: "broken", host) == 0, "nothing is kept of an array that was refused")
      // A success that is recorded has its state with it.
      let after = try await host.run("state-get kept")
      let isKept = try await count(of: "state", host) == 1
      #expect(after["run"]?["output"]?["state"]?.string == (isKept ? "yes" : nil), "\(after)")
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test("a misspelt failpoint keeps the host from starting, and the error names the points")
  func misspelt() async throws {
    try await HostProcess.prepare(environment: [FailpointTrigger.variable: "before-comit"]) { host in
      try host.configure("")
      let failure = try await host.failure()
      #expect(failure.status == 78)
      #expect(failure.errors.contains("before-comit") && failure.errors.contains("before-commit"), "\(failure.errors)")
    }
  }

  /// With a schedule, which is a request of the configuration's.
  private static let configuration = """
    max_concurrent_runs = 8
    minimum_interval = "1s"

    [plugin."test.script"]
    schedule = "every 1h"

    """

  /// A host before leaves a run behind that is lost with it.
  private func loseRun(_ host: HostProcess, _ ledger: Ledger) async throws {
    try await host.start()
    let id = try await host.submit("note \(try host.directory.shared("notes"));poll 700")
    ledger.acknowledge([id])
    try await host.request(id, is: "running")
    await host.kill()
  }

  /// Leaves a store with plain values, for a host that is to seal them.
  private func seal(_ host: HostProcess, _ ledger: Ledger) async throws {
    try await host.start()
    let id = try await host.submit("note \(try host.directory.shared("notes"))")
    ledger.acknowledge([id])
    try await host.request(id, is: "succeeded")
    #expect(try await host.terminate().status == 0)
    #expect(try await host.cli("store", "key", "store.key").status == 0)
    try host.configure(Self.configuration + "\n[encryption]\nkey_file = \"store.key\"\n")
  }

  /// The workload, then SIGTERM; whatever of it the host lives to see.
  ///
  /// - Parameter last: What the log says once work in the background is done.
  private func drive(_ workload: FailpointWorkload, fillsLog: Bool, until last: String?) async {
    var observer: Task<Void, Never>?
    do {
      try await workload.host.current.line(with: "control socket open")
      try await workload.host.current.line(with: "launched:")
      observer = try await workload.ledger.follow(workload.host.socket)
      try await workload.run(fillsLog: fillsLog)
      if let last { try await workload.host.current.line(with: last) }
    } catch {}
    workload.host.signal(SIGTERM)
    _ = try? await workload.host.end(within: .seconds(60))
    await observer?.value
  }

  private func count(of tag: String, _ host: HostProcess) async throws -> Int {
    try await host.json("tasks", "list", "--tag", tag)["requests"]?.array.count ?? 0
  }
}

/// Expects that a host which took over has lost nothing that was acknowledged, ran nothing again, and that every request ends.
func expectKept(_ host: HostProcess, _ ledger: Ledger, sourceLocation: SourceLocation = #_sourceLocation) async throws {
  let socket = host.socket
  let isFinal: @Sendable (JSON) -> Bool = { ["succeeded", "failed", "cancelled"].contains($0["state"]?.string) }
  var succeeded: Set<String> = []
  for id in ledger.acknowledged.sorted() {
    let record = try await host.request(id, within: .seconds(60), until: isFinal)
    switch record["state"]?.string {
    case "succeeded": succeeded.insert(id)
    case "failed":
      // One that was running at each of five kills in a row is given up.
      let runs = try await onThread { try SocketClient(socket).request("GET", "/v1/runs?request=\(id)").json()["runs"]?.array ?? [] }
      let lost = runs.prefix { $0["outcome"]?.string == "lost" }.count
      #expect(lost >= 5, "\(record), runs: \(runs)", sourceLocation: sourceLocation)
    default: #expect(ledger.mayBeCancelled.contains(id), "\(record)", sourceLocation: sourceLocation)
    }
  }
  // What was committed and not acknowledged ends as well; only what the configuration repeats goes on.
  let all = try await onThread { try SocketClient(socket).request("GET", "/v1/requests?limit=10000").json()["requests"]?.array ?? [] }
  for record in all where !isFinal(record) && record["unique_key"]?.string?.hasPrefix("config:") != true {
    guard let id = record["id"]?.string else { throw TestFailure("a request without an id: \(record)") }
    _ = try await host.request(id, within: .seconds(60), until: isFinal)
  }
  #expect(ledger.ranAgain() == [], "run again although their success was seen", sourceLocation: sourceLocation)
  let seen = ledger.succeeded.intersection(ledger.acknowledged)
  #expect(seen.subtracting(succeeded) == [], "seen as succeeded, and something else by now", sourceLocation: sourceLocation)
  #expect(succeeded.subtracting(ledger.ran()) == [], "recorded as succeeded without a run", sourceLocation: sourceLocation)
}
