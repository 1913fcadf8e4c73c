import FleetStore
public import TaskModel
import TaskScheduler

/// Which requests of an identifier a host runs.
public enum FleetScope: String, Sendable, CaseIterable {
  /// Those that were submitted to this host.
  case host
  /// Those of the whole fleet: any host that could begin one takes it.
  case fleet
}

extension HostConfiguration {
  /// `[fleet]`: the database that hosts share. Without an address, the host is in no fleet.
  public struct Fleet: Sendable, Equatable {
    /// `url`: the database's address, as libpq takes it; nil for none.
    public var url: String?

    /// `name`: the name of this host in the fleet; nil for the machine's name.
    public var name: String?

    /// `labels`: what the operator says of this host.
    public var labels: [String] = []

    /// `max_pending`: how many live requests an identifier may have in the fleet before this host adds no more.
    public var maxPending = 1_000_000

    static var fields: [TOMLField<Self>] {
      [
        TOMLField(
          "url", optional: \.url, .databaseAddress,
          about: "The PostgreSQL database that the hosts share, as libpq takes it: "
            + "\"postgres://user@host,other/db?target_session_attrs=read-write\". A password belongs into the passfile that it may name. None by default."
        ),
        TOMLField("name", optional: \.name, .memberName, about: "What the others call this host. By default, as the machine is called."),
        TOMLField("labels", \.labels, .list(.line), about: "What the operator says of this host, such as \"gpu\"."),
        TOMLField(
          "max_pending", \.maxPending, .integer(1...1_000_000_000),
          about: "How many requests an identifier may have pending in the fleet, counted roughly before a host adds more."),
      ]
    }
  }

  /// The identifiers with `scope = "fleet"`, if the host is in a fleet.
  public var fleetIdentifiers: Set<TaskIdentifier> {
    guard fleet.url != nil else { return [] }
    return Set(plugins.filter { $0.value.scope == .fleet }.compactMap { try? TaskIdentifier($0.key) })
  }

  func reportContradictionsOfFleet(to reader: TOMLReader) {
    if fleet.url == nil, reader.isSound("fleet", "url") {
      for key in ["name", "labels", "max_pending"] where reader.has("fleet", key) {
        reader.report(["fleet", key], "\(key) is for hosts of a fleet, and there is no database: set fleet.url")
      }
    }
    for (identifier, plugin) in plugins.sorted(by: { $0.key < $1.key }) where plugin.scope == .fleet {
      let table = table(of: identifier)
      func report(_ key: String, _ message: String) { reader.report([table, identifier, key], message) }
      if fleet.url == nil, reader.isSound("fleet", "url") {
        report("scope", "scope is \"fleet\", and the host is in none: set fleet.url, or remove scope")
      }
      if identifier == TaskIdentifier.transfers.rawValue {
        report("scope", "the files of transfers are each host's own, so their requests are too: remove scope")
      }
      if plugin.isolation == .thread {
        let why = "requests of the fleet run in processes only, which can be killed when the host's lease ends"
        if table == "command" {
          report(
            "scope", "without entitlements, a command runs in the host itself, and \(why): add [command.\"\(identifier)\".entitlements]")
        } else {
          report("isolation", "isolation is \"thread\", and \(why): remove isolation, or set scope = \"host\"")
        }
      }
    }
    let shared = scheduledRequests().filter { fleetIdentifiers.contains($0.key.identifier) }
    for (name, schedule) in shared.sorted(by: { $0.key.description < $1.key.description }) {
      do throws(RequestRefusal) { try schedule.submission(of: name).checkFleetScope() } catch {
        let identifier = name.identifier.rawValue
        reader.report(
          schedules[name] == nil ? [table(of: identifier), identifier, "schedule"] : ["schedule", "\(name)"], "\(identifier): \(error)")
      }
    }
  }

  /// Which table the configuration has for an identifier.
  private func table(of identifier: String) -> String { commands[identifier] == nil ? "plugin" : "command" }
}

extension TOMLConverter<String> {
  /// The name of a host: PostgreSQL's server ends a connection whose program has a name of some thousand bytes.
  fileprivate static var memberName: Self {
    .text("the name of a host") { text, _ throws(TextProblem) in
      guard (1...Limits.keyBytes).contains(text.utf8.count), !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
        throw TextProblem("expected 1 to \(Limits.keyBytes) bytes without control characters")
      }
      return text
    }
  }

  /// The address of a database, without a password: a configuration is printed and compared.
  fileprivate static var databaseAddress: Self {
    .text("the address of a database") { text, _ throws(TextProblem) in
      guard (1...4096).contains(text.utf8.count), !text.utf8.contains(where: { $0 < 0x20 }) else {
        throw TextProblem("expected 1 to 4096 bytes without control characters")
      }
      switch FleetAddress.read(text) {
      case .sound, nil: break
      case .hasPassword:
        throw TextProblem(
          "the address has a password: write it into a passfile that only the host can read, and name that (?passfile=/PATH)")
      case .unreadable(let reason):
        throw TextProblem("\(reason): write it as postgres://USER@HOST/DATABASE or host=HOST dbname=DATABASE")
      }
      return text
    }
  }
}
