import ArgumentParser
import FleetStore
import StrictText
import TaskHost
import TaskModel

struct FleetFenceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fence",
    abstract: "Take everything from a host of the fleet, once its runs are dead.",
    discussion: """
      The host kills its runs of the fleet, and says when they are dead; then what it
      held is ready for others. A host that gives no sign of life is dead after its
      lease. So no request is run twice at a time. A host that lives joins again:
      drain it first if it is to take nothing more.

      --now does not wait. THE HOST'S RUNS MAY GO ON, beside those of the next
      owners, until it notices: at its next renewal, or at the end of its lease if it
      cannot reach the database. Use it only if you know that the host is dead, or if
      runs of one request beside each other do no harm.

      EXAMPLES
        taskhost fleet fence web2 --yes
        taskhost fleet drain web2 && taskhost fleet fence web2 --timeout 5m
        taskhost fleet fence web2 --now

      EXIT CODES
        0 others have what it held
        1 it has not given that up in time: it goes on to do so
      """)

  @OptionGroup var fleet: FleetOptions
  @Flag(help: "Do not ask.")
  var yes = false
  @Flag(help: "Do not wait until its runs are dead: they may go on beside those of the next owners.")
  var now = false
  @Option(help: ArgumentHelp("How long to wait. (default: 1m, or three leases if that is more)", valueName: "duration"))
  var timeout: String?
  @Argument(help: "Its name, or its incarnation, as fleet hosts lists them.")
  var host: String

  private var shown: String { host.escapingControlCharacters }

  func validate() throws {
    _ = try limit()
    guard !now || timeout == nil else { throw ValidationError("--now does not wait: leave out --timeout") }
  }

  private func limit() throws -> Duration? { try timeout.map { .milliseconds(try TimeArgument.duration($0, "--timeout")) } }

  func run() throws { try fleet.answering { try work() } }

  private func work() throws {
    let members = try fleet.ask { (session) throws(FleetError) in try session.members() }
    let meant = members.filter { ($0.name == host || $0.incarnation == host) && $0.state != .fenced }
    guard !meant.isEmpty else { throw FleetText.unknown(host) }
    let held = meant.reduce(0) { $0 + $1.held }
    let question =
      now
      ? "\(shown) holds \(held) requests. Give them to others now, although its runs may go on?"
      : "\(shown) holds \(held) requests. Stop its runs, and give them to others?"
    guard yes || Terminal.agrees(question) else {
      throw CommandFailure(.cancelled, nil, "nothing was changed", remedy: "answer y, or give --yes")
    }
    // Those that were asked about, whoever has the name by now.
    let incarnations = meant.map(\.incarnation)
    if now { try fenceNow(incarnations) } else { try askToLeave(incarnations) }
  }

  private func fenceNow(_ incarnations: [String]) throws {
    let fenced = try fleet.ask { (session) throws(FleetError) in
      var sum = (hosts: Int64(0), requests: Int64(0))
      for incarnation in incarnations {
        let one = try session.fence(incarnation, because: "an operator has fenced it")
        sum = (sum.hosts.adding(saturating: one.hosts), sum.requests.adding(saturating: one.requests))
      }
      return sum
    }
    if fleet.json {
      Terminal.printObject { writer in
        writer.member("hosts", fenced.hosts)
        writer.member("requests", fenced.requests)
      }
    } else if fenced.hosts == 0 {
      Terminal.print(alreadyGone)
    } else {
      Terminal.print("\(shown) is fenced: \(fenced.requests) requests are ready for others. Its runs may go on until it notices")
    }
  }

  private var alreadyGone: String { "\(shown) has gone already: others have what it held" }

  private func askToLeave(_ incarnations: [String]) throws {
    let (address, limit) = (try fleet.address(), try limit())
    let result: FleetFencing.Result
    do throws(FleetError) {
      result = try FleetFencing.run(address, hosts: incarnations, within: limit) { hosts, held in
        Terminal.progress("waiting until \(shown) has given up what it holds: \(StoreText.count(Int(held), "request")) ...")
      }
    } catch {
      Terminal.progress("")
      throw FleetOptions.failure(error, at: address)
    }
    Terminal.progress("")
    if fleet.json {
      Terminal.printObject { writer in
        writer.member("hosts", result.hosts)
        writer.member("requests", result.requests)
        writer.member("acknowledged", result.acknowledged)
        writer.member("silent", result.silent)
        writer.member("left", result.left)
      }
    } else if result.hosts == 0 {
      Terminal.print(alreadyGone)
    } else if result.left == nil {
      let how =
        switch (result.hosts, result.silent) {
        case (...1, 0): "\(shown) has stopped its runs"
        case (...1, _): "\(shown) gave no sign of life for so long that its runs are dead"
        case let (count, 0): "\(count) hosts called \(shown) have stopped their runs"
        case let (count, silent): "of \(count) hosts called \(shown), \(silent) gave no sign of life for so long that their runs are dead"
        }
      Terminal.print("\(how): \(StoreText.count(Int(result.requests), "request")) can run elsewhere")
    }
    guard let left = result.left else { return }
    Terminal.note(
      "! \(shown) still holds \(StoreText.count(Int(left), "request")), and goes on to give them up; "
        + "--now gives them to others although its runs may go on")
    throw ExitCode(ExitStatus.failed.rawValue)
  }
}
