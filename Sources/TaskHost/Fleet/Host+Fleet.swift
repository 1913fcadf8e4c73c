import FleetStore
import HostThreads
import Logging
import TaskModel
import TaskScheduler
import TaskStore
import WorkerProcesses

extension HostParts {
  /// What the ids of the fleet's requests share, nil if the host is in none, and what of the store's requests it has.
  ///
  /// The database must be reached once; later launches go by what was noted in the state directory.
  ///
  /// - Returns: `moved` has the ids in the store and in the fleet; `stale` those in the fleet of requests that have ended in the store; `failure`
  ///   says why the database could not be reached.
  static func fleetOrigin(
    _ configuration: HostConfiguration, _ directory: StateDirectory, _ store: SQLiteRequestStore, _ log: Logger
  ) throws(HostFailure) -> (origin: UInt64?, moved: [RequestID: RequestID], stale: [RequestID], failure: FleetError?) {
    guard let address = configuration.fleet.url else { return (nil, [:], [], nil) }
    let noted = (try? WholeTransfer.read(directory.fleetMark, atMost: 64)).flatMap {
      UInt64(String(decoding: $0, as: UTF8.self).prefix(while: \.isHexDigit), radix: 16)
    }
    do throws(FleetError) {
      let session = try FleetSession(address, name: configuration.fleetName, patience: .seconds(5))
      if noted != session.origin {
        try note(session.origin, at: directory.fleetMark)
      }
      let moved = try session.imported(from: store.origin)
      // The export may have been older than their ends here.
      let stale =
        moved.isEmpty
        ? []
        : try session.imported(from: store.origin, isLive: true).filter { (try? store.request($0.key))?.hasEndedHere == true }.map(\.value)
      return (session.origin, moved, stale, nil)
    } catch {
      let isAway = if case .away = error { true } else { false }
      guard isAway || error.mayHeal && noted != nil else { throw HostFailure(.configuration, "fleet.url: \(error)") }
      guard let noted else {
        throw HostFailure(
          .temporary,
          "fleet.url: \(error). A host that has never reached its fleet cannot begin without it: start it when the database answers")
      }
      if let identifier = ownRequests(configuration, store) {
        throw HostFailure(
          .temporary,
          "fleet.url: \(error). The store has requests of \(identifier) from before scope = \"fleet\", "
            + "and only the fleet's database can say whether they were moved there")
      }
      log.error("\(error); the host's own work goes on")
      return (noted, [:], [], error)
    }
  }

  /// An identifier of the fleet of which the store itself has live requests, without those of schedules, which end here anyway, and parked ones,
  /// which never run here.
  private static func ownRequests(_ configuration: HostConfiguration, _ store: SQLiteRequestStore) -> TaskIdentifier? {
    configuration.fleetIdentifiers.sorted().first { identifier in
      var query = RequestQuery()
      (query.identifier, query.states, query.limit) = (identifier, RequestState.allCases.filter { !$0.isFinal }, 1000)
      return (try? store.requests(query))?.contains { !$0.request.isSchedule && $0.paused?.isParked != true } ?? true
    }
  }

  private static func note(_ origin: UInt64, at path: String) throws(FleetError) {
    do { try WholeFile.replace(Array("\(String(origin, radix: 16))\n".utf8), at: path, by: path + ".new", mode: 0o600) } catch {
      throw .refused("\(error)")
    }
  }
}

extension HostConfiguration {
  /// What the others call this host.
  var fleetName: String { fleet.name ?? (hostName.isEmpty ? "unnamed" : hostName) }
}

extension HostParts {
  /// The host's part in its fleet, which has not begun; nil if it is in none.
  func fleetView(_ configuration: HostConfiguration, _ contracts: [HandlerContract], _ log: Logger) throws(HostFailure) -> FleetView? {
    guard let fleet, let address = configuration.fleet.url else { return nil }
    let host = FleetHost(
      name: configuration.fleetName, program: program ?? "", labels: configuration.fleet.labels, identifiers: [])
    let agent = try FleetAgent(
      FleetPlace(address: address, host: host, origin: fleet), mostPending: configuration.fleet.maxPending, scheduler, events, log: log
    ) { [processes] identifiers, end in
      processes.lease(identifiers, until: end)
    }
    agent.set(stale: stale)
    let view = FleetView(agent, identifiers: configuration.fleetIdentifiers)
    view.set(contracts)
    view.set(schedulesOf: configuration)
    return view
  }
}

extension Host {
  /// The part of the submission that is for the fleet: all of it, or none.
  func isForFleet(_ requests: [TaskRequest]) throws(RequestRefusal) -> Bool {
    guard let fleet, let first = requests.first else { return false }
    let isForFleet = fleet.identifiers.contains(first.identifier)
    if let index = requests.firstIndex(where: { fleet.identifiers.contains($0.identifier) != isForFleet }) {
      throw RequestRefusal(
        .invalid,
        "\(first.identifier) is for \(isForFleet ? "the fleet" : "this host"), and \(requests[index].identifier) is not: submit them apart",
        field: "requests[\(index)].identifier")
    }
    return isForFleet
  }
}
