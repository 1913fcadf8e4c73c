import TestSupport
import Foundation
import Glibc

/// What the tests of failpoints have a host do: everything in which a point lies. It goes on until the host has died of its failpoint.
struct FailpointWorkload {
  let host: HostProcess
  let ledger: Ledger
  /// The file in which runs note that they have begun.
  let notes: String

  /// An event that a request waits for.
  static let event = "failpoint"

  /// All of it. Throws when the host is gone.
  ///
  /// - Parameter fillsLog: Whether it goes on until the write-ahead log is due for a checkpoint.
  func run(fillsLog: Bool) async throws {
    try await submit("{\"identifier\": \"test.script\", \"payload\": \"\(note)\"}")
    for _ in 1...2 {
      try await submit("{\"identifier\": \"test.script\", \"payload\": \"\(note)\", \"unique_key\": \"one\", \"on_conflict\": \"keep\"}")
    }
    let element = "{\"identifier\": \"test.script\", \"payload\": \"\(note)\", \"tags\": [\"array\"]}"
    try await submit("[\(element), \(element), \(element)]")
    try await submit("{\"identifier\": \"test.nobody\"}")
    try await submit("[\(element.replacing("array", with: "broken")), {\"identifier\": \"test.nobody\"}]")
    try await submit("{\"identifier\": \"test.script\", \"payload\": \"\(note);result-until 2 3\"}")
    try await submit(
      "{\"identifier\": \"test.script\", \"payload\": \"\(note);state-set kept yes;checkpoint-set there\", \"tags\": [\"state\"]}")
    // Some milliseconds ahead of its time each is recorded and held, unless the machine is too busy just then.
    for delay in stride(from: 60, to: 600, by: 45) {
      try await submit("{\"identifier\": \"test.script\", \"payload\": \"\(note)\", \"delay_ms\": \(delay)}")
    }
    try await chains()
    try await look()
    try await cancel()
    try await wake()
    try await loseCondition()
    setClock()
    try await look()
    if fillsLog { try await fillLog() }
  }

  private var note: String { "note \(notes)" }

  /// A request after another, and one that replaces a run.
  private func chains() async throws {
    // Without output: what is passed on needs an object to be put into.
    if let first = try await submit("{\"identifier\": \"test.script\", \"payload\": \"\(note);sleep 20;output\"}").first {
      try await submit("{\"identifier\": \"test.script\", \"payload\": \"\(note)\", \"after\": [\"\(first)\"]}")
    }
    let keyed = "{\"identifier\": \"test.script\", \"unique_key\": \"chain\", \"on_conflict\": \"replace\", \"payload\": \"\(note);"
    guard let replaced = try await submit(keyed + "poll 700\"}", mayBeCancelled: true).first else { return }
    _ = try await host.request(replaced) { $0["state"]?.string != "pending" }
    try await submit(keyed + "result 0\"}")
  }

  /// Notes the successes that the list of runs shows.
  private func look() async throws {
    let socket = host.socket
    let runs = try await onThread { try SocketClient(socket).request("GET", "/v1/runs?limit=100").json()["runs"]?.array ?? [] }
    for run in runs where run["outcome"]?.string == "succeeded" { ledger.sawSuccess(of: run["request"]?.string ?? "") }
  }

  private func cancel() async throws {
    let body = "{\"identifier\": \"test.script\", \"payload\": \"\(note);poll 700\"}"
    guard let cancelled = try await submit(body, mayBeCancelled: true).first else { return }
    _ = try await host.request(cancelled) { $0["state"]?.string != "pending" }
    try await send("DELETE", "/v1/requests/\(cancelled)")
  }

  private func wake() async throws {
    try await submit("{\"identifier\": \"test.script\", \"payload\": \"\(note)\", \"event\": \"\(Self.event)\"}")
    try await post()
  }

  /// Posts the event that requests of the workload wait for.
  func post() async throws { try await send("POST", "/v1/events/\(Self.event)", "{}") }

  /// A run loses its condition, and has it again.
  private func loseCondition() async throws {
    try await send("PUT", "/v1/conditions", "{\"storage_not_low\": true}")
    let body = "{\"identifier\": \"test.script\", \"payload\": \"\(note);poll 700\", \"conditions\": [\"storage_not_low\"]}"
    if let id = try await submit(body).first {
      _ = try await host.request(id) { $0["state"]?.string != "pending" }
      try await send("PUT", "/v1/conditions", "{\"storage_not_low\": false}")
    }
    try await send("DELETE", "/v1/conditions")
  }

  /// Sets the wall clock to what it is, where that is allowed: who watches for it to be set is told all the same.
  private func setClock() {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    _ = clock_settime(CLOCK_REALTIME, &now)
  }

  private func fillLog() async throws {
    let (socket, ledger, note) = (host.socket, ledger, note)
    try await onThread {
      let client = try SocketClient(socket)
      let body = "{\"identifier\": \"test.script\", \"payload\": \"\(note)\"}"
      for _ in 1...4000 {
        if let id = try client.request("POST", "/v1/requests", body: body).json()["id"]?.string { ledger.acknowledge([id]) }
      }
    }
  }

  /// Submits, and notes what the host acknowledged; what it refuses has no ids.
  @discardableResult
  private func submit(_ body: String, mayBeCancelled: Bool = false) async throws -> [String] {
    let answer = try await host.post("/v1/requests", body)
    guard answer.status == 201 else { return [] }
    let json = try answer.json()
    let ids = (json["requests"]?.array ?? [json]).compactMap { $0["id"]?.string }
    ledger.acknowledge(ids, mayBeCancelled: mayBeCancelled)
    return ids
  }

  private func send(_ method: String, _ path: String, _ body: String? = nil) async throws {
    let socket = host.socket
    _ = try await onThread { try SocketClient(socket).request(method, path, body: body) }
  }
}
