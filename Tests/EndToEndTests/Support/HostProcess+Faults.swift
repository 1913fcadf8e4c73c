import TestSupport
import Foundation
import Glibc
import Testing

/// What the tests of faults have in common.
extension HostProcess {
  /// Gives `body` a host with a faulty fixture as `fault.so` and the well-behaved `twin.so`.
  @discardableResult
  static func withFault<Value: Sendable>(
    _ fixture: String, _ isolation: Isolation, _ configuration: String = "", arguments: [String] = [],
    environment: [String: String] = [:], _ body: (HostProcess) async throws -> Value
  ) async throws -> Value {
    try await prepare(isolation: isolation, environment: environment) { host in
      try await host.add("fault.so", fixture, arguments)
      try await host.addTwin()
      try host.configure(configuration)
      try await host.start()
      return try await body(host)
    }
  }

  /// A path in `shared` at which nothing is yet.
  func unusedPath() throws -> String { try directory.shared("marker-\(UUID().uuidString.prefix(8))") }

  /// Submits steps of a `faulty_*.c` fixture and waits for the run's end, whatever it is.
  func fault(_ steps: String) async throws -> JSON { try await run(steps, identifier: "test.fault") }

  /// The records of a request's runs, all fields, newest first.
  func records(of request: String) async throws -> [JSON] {
    var records: [JSON] = []
    for run in try await runs(of: request) { records.append(try await json("runs", "show", run["id"]?.string ?? "")) }
    return records
  }

  /// The process of a plugin's worker; nil: there is none.
  func worker(of file: String) async throws -> pid_t? {
    let plugin = try await plugin(file)
    return (plugin["worker"]?["process_id"]?.integer ?? plugin["worker_process_id"]?.integer).map { pid_t($0) }
  }

  /// The processes that the host has started and that live.
  func children() -> [pid_t] { Processes.all().filter { $0.parent == processID }.map(\.id) }

  /// Waits until the host's process is stopped by a signal.
  func isStopped(within limit: Duration = .seconds(30)) async throws {
    let process = processID
    let late = Task {
      try await Task.sleep(for: limit)
      Glibc.kill(process, SIGKILL)
    }
    defer { late.cancel() }
    try await onThread {
      var information = siginfo_t()
      guard waitid(P_PID, id_t(process), &information, WSTOPPED | WNOWAIT | WEXITED) == 0, information.si_code == CLD_STOPPED else {
        throw TestFailure("the host was not stopped")
      }
    }
  }
}

/// Expects that a run of the fault has crashed, that the crash names one of `words`, and that nothing else was harmed: the next attempt
/// is well behaved and succeeds, the twin runs. In thread isolation the crash ends the host, and a new one takes over.
///
/// - Parameters:
///   - payload: The steps; `once FILE` is put before them.
///   - words: Names of signals, or "exit".
func expectCrash(
  _ host: HostProcess, _ payload: String, identifier: String = "test.fault", named words: [String], tellsMemory: Bool = true,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let kept = try await host.json("submit", "test.twin", "--after", "1h")["id"]?.string ?? ""
  // The fault comes once the submission is answered.
  let gate = try host.directory.fifo("gate-\(UUID().uuidString.prefix(8))")
  let id = try await host.submit("once \(try host.unusedPath());gate \(gate.path);\(payload)", identifier: identifier)
  try await gate.pass()
  if host.isolation == .thread {
    let end = try await host.end()
    #expect(end.status != 0, "the host ended by the plugin's doing", sourceLocation: sourceLocation)
    try await host.start()
  }
  try await host.request(id, is: "succeeded")
  let records = try await host.records(of: id)
  try #require(records.count == 2, "\(records)", sourceLocation: sourceLocation)
  let crash = records[1]
  #expect(crash["outcome"]?.string == "crashed", "\(crash)", sourceLocation: sourceLocation)
  #expect(records[0]["attempt"]?.integer == 2, "a crash spends an attempt", sourceLocation: sourceLocation)
  let told = (crash["trouble"]?.string ?? "") + "\n" + (crash["message"]?.string ?? "")
  #expect(words.contains { told.contains($0) }, "\(crash) names none of \(words)", sourceLocation: sourceLocation)
  let plugin = try await host.plugin("fault.so")
  switch host.isolation {
  case .process:
    #expect(!tellsMemory || (crash["peak_memory_bytes"]?.integer ?? 0) > 0, "\(crash)", sourceLocation: sourceLocation)
    #expect(plugin["strikes"]?.integer ?? 0 == 0, "a good run clears the strikes: \(plugin)", sourceLocation: sourceLocation)
  case .thread:
    let trouble = plugin["last_trouble"]?.string ?? ""
    #expect(trouble.hasPrefix("it ended the host, which "), "\(plugin)", sourceLocation: sourceLocation)
    let twin = try await host.plugin("twin.so")
    #expect(twin["last_trouble"] == nil && twin["strikes"]?.integer ?? 0 == 0, "\(twin)", sourceLocation: sourceLocation)
  }
  #expect(try await host.json("tasks", "show", kept)["state"]?.string == "pending", sourceLocation: sourceLocation)
  try await expectTwinRuns(host, sourceLocation: sourceLocation)
}

/// Expects that a run which does not heed its expiration is stopped by force: by its worker's end, or in thread isolation by leaving its
/// thread behind.
///
/// - Returns: The record of the run.
@discardableResult
func expectForced(
  _ host: HostProcess, _ payload: String, identifier: String = "test.fault", sourceLocation: SourceLocation = #_sourceLocation
) async throws -> JSON {
  let id = try await host.submit("once \(try host.unusedPath());\(payload)", identifier: identifier)
  try await host.request(id) { $0["last_outcome"] != nil }
  let record = try #require(try await host.records(of: id).last, sourceLocation: sourceLocation)
  #expect(record["outcome"]?.string == "expired", "\(record)", sourceLocation: sourceLocation)
  #expect(record["forced"]?.bool == true, "\(record)", sourceLocation: sourceLocation)
  #expect(record["stop_reason"]?.string == "budget", "\(record)", sourceLocation: sourceLocation)
  try await expectTwinRuns(host, sourceLocation: sourceLocation)
  switch host.isolation {
  case .process:
    #expect(record["stop_stage"]?.string == "killed", "\(record)", sourceLocation: sourceLocation)
    // The next attempt is in a new worker.
    try await host.request(id, is: "succeeded")
    #expect(try await host.runs(of: id).first?["attempt"]?.integer == 2, "it spent an attempt", sourceLocation: sourceLocation)
  case .thread:
    #expect(record["stop_stage"]?.string == "abandoned", "\(record)", sourceLocation: sourceLocation)
    let health = try await host.plugin("fault.so")["standing"]?.string
    #expect(["suspended", "held"].contains(health), "\(health ?? "")", sourceLocation: sourceLocation)
    #expect(try await host.terminate().status == 0, "an abandoned thread does not keep the host", sourceLocation: sourceLocation)
  }
  return record
}
