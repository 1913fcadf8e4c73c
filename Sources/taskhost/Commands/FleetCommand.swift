import ArgumentParser
import CalendarTime
import FleetStore
import StrictText
import TaskHost
import TaskModel

struct FleetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Make and look after the database that the hosts of a fleet share. Needs no host.",
    discussion: """
      Hosts whose configuration names the same PostgreSQL database ([fleet] url)
      share the requests of identifiers with scope = "fleet": any host submits, and
      any host that could begin one runs it. These commands talk to the database
      themselves.

      EXAMPLES
        taskhost fleet init
        taskhost fleet status
        taskhost fleet drain web2
      """,
    subcommands: [
      FleetInitCommand.self, FleetStatusCommand.self, FleetHostsCommand.self, FleetDrainCommand.self, FleetFenceCommand.self,
      FleetDoctorCommand.self, FleetImportCommand.self, FleetExportCommand.self,
    ])
}

/// The options that say where the fleet is.
struct FleetOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The configuration with the fleet's url. (default: ./taskhost.toml)", valueName: "file"))
  var config: String?
  @Option(help: ArgumentHelp("The database, instead of the configuration's.", valueName: "address"))
  var url: String?
  @Flag(help: "Print JSON.")
  var json = false

  func address() throws -> String {
    if let url {
      // libpq would take the server of this machine.
      guard !url.isEmpty else { throw CommandFailure(.configuration, "--url", "it is empty", remedy: "name the database of the fleet") }
      return url
    }
    let configuration = try configuration()
    guard let url = configuration.fleet.url else {
      throw CommandFailure(
        .configuration, configuration.file ?? "the configuration", "it names no fleet",
        remedy: "set fleet.url, or give the database with --url")
    }
    return url
  }

  func configuration() throws -> HostConfiguration {
    do { return try ConfigurationChoice.ofCommand(config).load() } catch { throw CommandFailure(.configuration, nil, "\(error)") }
  }

  /// Connects, and asks.
  func ask<Value>(_ body: (FleetSession) throws(FleetError) -> Value) throws -> Value {
    let address = try address()
    let session: FleetSession
    do throws(FleetError) { session = try FleetSession(address, name: "command line") } catch { throw Self.failure(error) }
    do throws(FleetError) { return try body(session) } catch { throw Self.failure(error, at: address) }
  }

  /// Does `body`. With `--json`, its failure is an object on standard output too.
  func answering(_ body: () throws -> Void) throws { try CommandFailure.answering(inJSON: json, body) }

  /// - Parameter address: A database that has answered before it failed: it is asked whether it waits for a standby.
  static func failure(_ error: FleetError, at address: String? = nil) -> CommandFailure {
    switch error {
    case .away(let reason, let isThere):
      switch address.map(FleetSession.waitingCommits) ?? 0 {
      case 0:
        CommandFailure(.noHost, "the fleet's database", reason, remedy: isThere ? "see taskhost fleet doctor" : FleetError.reaching)
      case let count:
        CommandFailure(
          .noHost, "the fleet's database", "\(count) commits wait there for a synchronous standby that does not answer (\(reason))",
          remedy: "see taskhost fleet doctor")
      }
    case .badAddress: CommandFailure(.configuration, nil, "\(error)")
    case .unpermitted, .refused, .fenced, .changed, .locked, .barred, .unfit, .notInitialised, .incomplete, .version:
      CommandFailure(.refused, nil, "\(error)")
    }
  }
}

struct FleetInitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Make the fleet's tables in its database, or bring them up to date.",
    discussion: """
      Makes the schema taskhost, in one transaction. Where there is one, only its
      functions are brought up to date; hosts may go on meanwhile. The lease is how
      long a host that gives no sign of life keeps its requests.

      EXAMPLES
        taskhost fleet init
        taskhost fleet init --lease 30s
      """)

  @OptionGroup var fleet: FleetOptions
  @Option(help: ArgumentHelp("How long a lease lasts, 2s to 5m. That of a fleet cannot be changed. (default: 10s)", valueName: "duration"))
  var lease: String?
  @Option(help: ArgumentHelp("How many days ended requests are kept. (default: 30, or what the fleet has)", valueName: "days"))
  var historyDays: Int?

  func validate() throws {
    _ = try leaseDuration()
    guard (1...3650).contains(historyDays ?? 1) else { throw ValidationError("--history-days must be 1 to 3650") }
  }

  private func leaseDuration() throws -> Duration? {
    guard let lease else { return nil }
    let milliseconds = try TimeArgument.duration(lease, "--lease")
    guard (2_000...300_000).contains(milliseconds) else { throw ValidationError("--lease must be 2s to 5m, not \"\(lease)\"") }
    return .milliseconds(milliseconds)
  }

  func run() throws { try fleet.answering { try work() } }

  private func work() throws {
    let address = try fleet.address()
    let outcome: FleetSetup.Outcome
    let lease = try leaseDuration()
    do throws(FleetError) { outcome = try FleetSetup.run(address, lease: lease, historyDays: historyDays) } catch {
      throw FleetOptions.failure(error, at: address)
    }
    if fleet.json {
      Terminal.printObject { writer in
        switch outcome {
        case .made: writer.member("outcome", "made")
        case .updated(let version):
          writer.member("outcome", "updated")
          writer.member("version_before", version)
        }
      }
    } else {
      switch outcome {
      case .made: Terminal.print("the fleet's tables are made: set fleet.url and scope = \"fleet\" on each host, and start them")
      case .updated: Terminal.print("the fleet's tables are up to date")
      }
    }
  }
}

struct FleetHostsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hosts",
    abstract: "List the hosts that have a lease, and those that were fenced in the last day.",
    discussion: """
      EXAMPLES
        taskhost fleet hosts
        taskhost fleet hosts --json
      """)

  @OptionGroup var fleet: FleetOptions

  func run() throws { try fleet.answering { try work() } }

  private func work() throws {
    let members = try fleet.ask { (session) throws(FleetError) in try session.members() }
    if fleet.json {
      Terminal.printObject { writer in writer.array("hosts", members) { writer, member in FleetText.write(member, to: &writer) } }
    } else {
      FleetText.list(members)
    }
  }
}

struct FleetDrainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drain",
    abstract: "Let a host of the fleet finish what it has, and take nothing more.",
    discussion: """
      The host notices at its next renewal. Its own requests go on. --undo lets it
      take requests again; a host that is started anew does so by itself.

      EXAMPLES
        taskhost fleet drain web2
        taskhost fleet drain web2 --undo
      """)

  @OptionGroup var fleet: FleetOptions
  @Flag(help: "Let it take requests again.")
  var undo = false
  @Argument(help: "Its name, or its incarnation, as fleet hosts lists them.")
  var host: String

  func run() throws { try fleet.answering { try work() } }

  private func work() throws {
    let count = try fleet.ask { [undo, host] (session) throws(FleetError) in try session.setDraining(!undo, host: host) }
    guard count > 0 else { throw FleetText.unknown(host) }
    if fleet.json {
      Terminal.printObject { $0.member("hosts", count) }
    } else {
      let shown = host.escapingControlCharacters
      let who = count == 1 ? "\(shown) takes" : "\(count) hosts called \(shown) take"
      Terminal.print("\(who) \(undo ? "requests again" : "nothing more")")
    }
  }
}

/// Words about a fleet.
enum FleetText {
  static func unknown(_ host: String) -> CommandFailure {
    CommandFailure(.refused, host.escapingControlCharacters, "the fleet has no such host", remedy: "see taskhost fleet hosts")
  }

  static func write(_ member: FleetMember, to writer: inout JSONWriter) {
    writer.member("name", member.name)
    writer.member("incarnation", member.incarnation)
    writer.member("state", member.state.rawValue)
    writer.member("reason", member.reason)
    writer.member("taskhost", member.program)
    writer.member("labels", member.labels)
    writer.member("identifiers", member.identifiers)
    writer.member("began_unix_ms", member.began.unixMilliseconds)
    writer.member("lease_left_ms", member.left.wholeMilliseconds)
    writer.member("held", member.held)
  }

  /// Those that are there, the oldest first, then the others, the last to leave first.
  static func list(_ members: [FleetMember]) {
    let gone = members.filter { !$0.state.isThere }.sorted { $0.left > $1.left }
    for member in members.filter(\.state.isThere) + gone {
      var line = "\(member.name.escapingControlCharacters)  \(member.state.rawValue)  holds \(member.held)  \(member.incarnation)"
      if !member.labels.isEmpty { line += "  [\(member.labels.joined(separator: ", ").escapingControlCharacters)]" }
      // Other hosts may fence it some milliseconds before its lease ends by the database's clock.
      let gone = max(.zero, .zero - member.left)
      line +=
        member.state.isThere
        ? "  since \(MomentFormat.local(member.began.unixMilliseconds))"
        : "  lease ended \(DurationFormat.words(milliseconds: gone.wholeMilliseconds)) ago"
      if let reason = member.reason { line += "  \(reason.escapingControlCharacters)" }
      Terminal.print(line)
    }
  }
}
