import FleetStore
import HostThreads
import TaskModel

/// The fleet as the host's clients see it: the agent, and a connection for reading.
final class FleetView: @unchecked Sendable {  // reason: the session is used with `monitor` held
  let agent: FleetAgent
  /// The identifiers with `scope = "fleet"` at the launch: only a restart changes them.
  let identifiers: Set<TaskIdentifier>
  private let monitor = Monitor()
  /// How long an answer may take: who collects metrics waits for ten seconds, as Prometheus does.
  private static let patience = Duration.seconds(8)
  private var session: FleetSession?
  /// Events for which no request waited, here or in the fleet.
  let dropped = Guarded(UInt64(0))
  /// When the database failed last, and how, if it has not answered since: whoever has waited for that would wait as long for the same.
  private let failed = Guarded<(at: MonotonicTime, error: FleetError)?>(nil)

  init(_ agent: FleetAgent, identifiers: Set<TaskIdentifier>) { (self.agent, self.identifiers) = (agent, identifiers) }

  /// The host has this configuration from now on.
  func set(schedulesOf configuration: HostConfiguration) {
    agent.set(configuration.scheduledRequests().filter { identifiers.contains($0.key.identifier) })
  }

  /// The host has these plugins from now on.
  func set(_ contracts: [HandlerContract]) { agent.lease.set(contracts.map(\.identifier).filter(identifiers.contains).sorted()) }

  /// Whether it is the id of a request of the fleet.
  func has(_ id: RequestID) -> Bool { id.origin == agent.place.origin }

  /// Why the database cannot be used, or could not be read last.
  var trouble: String? { agent.trouble ?? failed.withLock { $0 }.map { "\($0.error)" } }

  /// Asks the database; blocks until it has answered, for some seconds at most.
  func read<Value>(_ body: (FleetSession) throws(FleetError) -> Value) throws(StoreError) -> Value {
    do throws(FleetError) { return try ask(body) } catch { throw .away("\(error)") }
  }

  /// The same for what completes an answer: nil while the database cannot be asked, which ``trouble`` says.
  func readIfThere<Value>(_ body: (FleetSession) throws(FleetError) -> Value) throws(StoreError) -> Value? {
    do throws(FleetError) { return try ask(body) } catch {
      if error.mayHeal { return nil }
      throw .away("\(error)")
    }
  }

  private func ask<Value>(_ body: (FleetSession) throws(FleetError) -> Value) throws(FleetError) -> Value {
    let began = SystemClock.now
    monitor.lock()
    defer { monitor.unlock() }
    if let failed = failed.withLock({ $0 }), failed.at > began, case .away = failed.error { throw failed.error }
    do throws(FleetError) {
      let value = try askAlone(body)
      failed.withLock { $0 = nil }
      return value
    } catch {
      failed.withLock { $0 = (SystemClock.now, error) }
      throw error
    }
  }

  /// With `monitor` held.
  private func askAlone<Value>(_ body: (FleetSession) throws(FleetError) -> Value) throws(FleetError) -> Value {
    if session == nil, let failure = agent.lease.failure { throw failure }
    // A connection may have died unnoticed: reading again harms nothing. A server that does not answer on one does not on another.
    if let open = session {
      let asked = SystemClock.now
      do throws(FleetError) { return try body(open) } catch {
        session = nil
        guard case .away = error, SystemClock.now - asked < .seconds(1) else { throw error }
      }
    }
    let new = try agent.place.connect(patience: Self.patience)
    let value = try body(new)
    session = new
    return value
  }
}

extension FleetError {
  /// Whether a database that was a fleet before may be one again without a change of the configuration: it is away, a backup is on its way,
  /// it takes no writes, or somebody has taken a right away.
  var mayHeal: Bool {
    switch self {
    case .away, .notInitialised, .incomplete, .unpermitted, .refused: true
    default: false
    }
  }
}
