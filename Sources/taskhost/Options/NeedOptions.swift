import ArgumentParser
import StrictText
import TaskModel

/// The options of `submit` for what a request needs before it may run.
struct NeedOptions: ParsableArguments {
  @Option(
    name: .field(.conditions),
    help: ArgumentHelp(
      "Conditions of the machine: network, unmetered, power, idle, battery_not_low, storage_not_low.", valueName: "names"))
  var requires: String?
  @Option(
    name: .field(.onLostCondition),
    help: ArgumentHelp("What its run does if a condition is lost: stop (default) or finish.", valueName: "policy"))
  var onLostCondition: String?
  @Option(name: .field(.window), help: ArgumentHelp("Run only in this maintenance window of the configuration.", valueName: "name"))
  var window: String?
  @Option(
    name: .field(.after),
    help: ArgumentHelp(
      "Run after this request (its id, the beginning of it, or IDENTIFIER/KEY) has succeeded; with ID:ignore, after it has ended. May be "
        + "repeated.", valueName: "id"))
  var predecessors: [String] = []
  @Option(name: .field(.concurrencyKey), help: ArgumentHelp("Runs with the same key share a limit.", valueName: "key"))
  var concurrencyKey: String?
  @Option(
    name: .field(.resources),
    help: ArgumentHelp("A token of this resource of the configuration, or N tokens with NAME=N; may be repeated.", valueName: "name"))
  var resources: [String] = []
  @Option(
    name: .field(.prefer),
    help: ArgumentHelp(
      "The hosts of the fleet that get it first: a label, a host's name, or last_host. Others take it 5 s later.", valueName: "hosts"))
  var prefer: String?

  /// What a request with these options waits for, in words; nil if only for its time.
  var sentence: String? {
    switch predecessors.count {
    case 0: nil
    case 1: "the request \(Self.edge(predecessors[0]).request)"
    default: "\(predecessors.count) requests"
    }
  }

  /// Finds the requests that are meant by a beginning of their ids, or by `IDENTIFIER/KEY`.
  mutating func findPredecessors(_ client: ControlClient) async throws {
    for (index, text) in predecessors.enumerated() {
      let edge = Self.edge(text)
      predecessors[index] = try await ShortID.request(edge.request, client) + (edge.onFailure.map { ":\($0)" } ?? "")
    }
  }

  /// Writes the members of a request.
  func write(into writer: inout JSONWriter) throws {
    if let requires { writer.member(RequestField.conditions.rawValue, requires.split(separator: ",").map(String.init)) }
    writer.member(RequestField.onLostCondition, onLostCondition)
    writer.member(RequestField.window, window)
    if !predecessors.isEmpty {
      writer.array(RequestField.after.rawValue, predecessors.map(Self.edge)) { writer, edge in
        writer.member(RequestField.Predecessor.request, edge.request)
        writer.member(RequestField.Predecessor.onFailure, edge.onFailure)
      }
    }
    writer.member(RequestField.concurrencyKey, concurrencyKey)
    writer.member(RequestField.prefer, prefer)
    guard !resources.isEmpty else { return }
    let tokens = try resources.map { try Self.tokens($0) }
    if let twice = tokens.first(where: { token in tokens.filter { $0.name == token.name }.count > 1 }) {
      throw ValidationError("--resource \(twice.name) is given twice: write \(twice.name)=N for several tokens.")
    }
    writer.object(RequestField.resources.rawValue) { writer in
      for token in tokens { writer.member(token.name, token.count) }
    }
  }

  /// `ID`, `ID:ignore`. A key may have colons: behind one, only a policy stands after the last.
  private static func edge(_ text: String) -> (request: String, onFailure: String?) {
    guard let colon = text.contains("/") ? text.lastIndex(of: ":") : text.firstIndex(of: ":") else { return (text, nil) }
    if text.contains("/"), Dependency.FailurePolicy(rawValue: String(text[text.index(after: colon)...])) == nil { return (text, nil) }
    return (String(text[..<colon]), String(text[text.index(after: colon)...]))
  }

  /// `gpu`, `gpu=2`. The host decides how many tokens a request may take.
  private static func tokens(_ text: String) throws -> (name: String, count: Int64) {
    let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard !halves[0].isEmpty else { throw ValidationError("--resource: '\(text)' has no name: write gpu or gpu=2.") }
    guard halves.count == 2 else { return (text, 1) }
    guard let count = Int64(halves[1]) else {
      throw ValidationError("--resource: '\(text)' has no valid number of tokens: write \(halves[0])=2.")
    }
    return (String(halves[0]), count)
  }
}
