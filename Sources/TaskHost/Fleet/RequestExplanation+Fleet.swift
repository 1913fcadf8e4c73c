import CalendarTime
import FleetStore
import TaskModel

extension RequestExplanation {
  /// Gates that hold a request wherever it is; the others are those of one host.
  private static let everywhere: Set<String> = ["time", "backoff", "event", "event_quota", "ended", "predecessor"]

  /// Says of a request of the fleet where it is, or why no host takes it, instead of what this host alone would say.
  ///
  /// - Parameter name: The name of this host.
  mutating func place(_ placement: FleetPlacement, of record: RequestRecord, at name: String) {
    if let owner = placement.owner {
      gates = [Gate(kind: "running", sentence: "the host \(owner.host) has it", since: owner.since, heldBy: [owner.host])]
      (earliestStart, wouldRunIf, self.place) = (nil, [], nil)
      return
    }
    func holdsEverywhere(_ gate: Gate) -> Bool { gate.isOfFleet || Self.everywhere.contains(gate.kind) }
    let own = gates.filter { !holdsEverywhere($0) }
    gates.removeAll { !holdsEverywhere($0) }
    wouldRunIf = gates.compactMap(\.remedy)
    let everywhere = gates
    defer { prefer(placement, of: record) }
    guard !placement.hosts.isEmpty else {
      gates.append(
        Gate(
          kind: "no_handler", sentence: "no host of the fleet has a plugin for it",
          remedy: "a host with the plugin and scope = \"fleet\" joins the fleet: see taskhost fleet hosts"))
      (earliestStart, wouldRunIf) = (nil, gates.compactMap(\.remedy))
      return
    }
    let hosts = placement.hosts.map { host in
      // What is published may be some seconds old.
      host.name == name ? (host.name, own.isEmpty ? host.reason : own.map(\.sentence).joined(separator: "; ")) : (host.name, host.reason)
    }
    // What other hosts have published is of what is due. They look at a request when it is due, and publish some seconds later.
    let said = hosts.filter { everywhere.isEmpty || $0.0 == name && !own.isEmpty }
    gates += said.compactMap { host in host.1.map { Gate(kind: "host", sentence: "\(host.0): \($0)", heldBy: [host.0]) } }
    guard said.count == hosts.count, hosts.allSatisfy({ $0.1 != nil }) else {
      let opens = everywhere.map(\.until)
      if !opens.isEmpty { earliestStart = opens.contains(nil) ? nil : opens.compactMap(\.self).max() }
      return
    }
    earliestStart = nil
    guard everywhere.isEmpty else { return }
    (wouldRunIf, self.place) = (["one of these hosts can take it: see taskhost fleet hosts"], nil)
  }

  /// Says which hosts get the request first, as long as the others leave it to them. For those it is open.
  private mutating func prefer(_ placement: FleetPlacement, of record: RequestRecord) {
    guard let preferred = placement.preferred, let prefer = record.request.gates.prefer else { return }
    let hosts = "host\(preferred.hosts.count > 1 ? "s" : "") \(preferred.hosts.joined(separator: ", "))"
    gates.append(
      Gate(
        kind: RequestField.prefer.rawValue,
        sentence: "prefers \(prefer) (\(hosts)): others take it at \(MomentFormat.clock(preferred.until.unixMilliseconds))",
        until: preferred.until, heldBy: preferred.hosts))
  }
}
