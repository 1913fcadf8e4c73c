import TaskModel

/// What a method and path ask for.
enum Route: Hashable {
  case submit
  case listRequests
  case request(RequestID)
  case why(RequestID)
  case retry(RequestID)
  case retryAll
  case discard(RequestID)
  case discardAll
  case bulk
  case snooze(RequestID)
  case cancel(RequestID)
  case cancelAll
  case listRuns
  case run(RunID)
  case logs(RunID)
  case plugins
  case release(TaskIdentifier)
  case simulateLaunch
  case simulateExpiration
  case conditions
  case overrideConditions
  case clearConditions
  /// The event's name, percent-encoded as in the path.
  case notify(String)
  case forecast
  case listAssertions
  case beginAssertion
  case giveBackAssertion(AssertionID)
  case listPauses
  case pause
  case resume
  case endPause(PauseID)
  case listTransfers
  case submitTransfer
  case transfer(RequestID)
  case pauseTransfer(RequestID)
  case resumeTransfer(RequestID)
  case cancelTransfer(RequestID)
  case status
  case problems
  case shutdown
  case stream
  case health
  case metrics
  /// Designed, but not part of this version.
  case later(String)
  /// The path answers only these methods.
  case otherMethods([String])

  /// Whether the route takes query parameters; others refuse all.
  var readsQuery: Bool {
    switch self {
    case .listRequests, .listRuns, .stream, .cancelAll, .retryAll, .discardAll, .clearConditions, .forecast, .listTransfers, .resume,
      .otherMethods:
      true
    default: false
    }
  }

  static func find(method: String, path: String) throws(RequestRefusal) -> Route {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    let methods = try methods(of: parts, path: path)
    return methods.first { $0.method == method }?.route ?? .otherMethods(methods.map(\.method))
  }

  private typealias Entry = (method: String, route: Route)

  private static func methods(of parts: [String], path: String) throws(RequestRefusal) -> [Entry] {
    switch parts.count {
    case 2 where parts[0] == "v1": if let entries = collection(parts[1]) { return entries }
    case 3 where parts[0] == "v1": if let entries = try item(parts[1], parts[2]) { return entries }
    case 4 where parts[0] == "v1": if let entries = try detail(parts[1], parts[2], parts[3]) { return entries }
    case 1:
      switch parts[0] {
      case "healthz": return [("GET", .health)]
      case "metrics": return [("GET", .metrics)]
      case "openapi.json": return [("GET", .later("the OpenAPI description"))]
      case "": return [("GET", .later("the dashboard"))]
      default: break
      }
    default: break
    }
    throw RequestRefusal(.notFound, "there is nothing at \(path.prefix(200).escapingControlCharacters)")
  }

  private static func collection(_ name: String) -> [Entry]? {
    switch name {
    case "requests": [("GET", .listRequests), ("POST", .submit), ("DELETE", .cancelAll)]
    case "runs": [("GET", .listRuns)]
    case "plugins": [("GET", .plugins)]
    case "status": [("GET", .status)]
    case "problems": [("GET", .problems)]
    case "shutdown": [("POST", .shutdown)]
    case "stream": [("GET", .stream)]
    case "conditions": [("GET", .conditions), ("PUT", .overrideConditions), ("DELETE", .clearConditions)]
    case "forecast": [("GET", .forecast)]
    case "assertions": [("GET", .listAssertions), ("POST", .beginAssertion)]
    case "pauses": [("GET", .listPauses), ("POST", .pause), ("DELETE", .resume)]
    case "transfers": [("GET", .listTransfers), ("POST", .submitTransfer)]
    case "reload": [("POST", .later("reloading"))]
    default: nil
    }
  }

  private static func item(_ collection: String, _ name: String) throws(RequestRefusal) -> [Entry]? {
    switch (collection, name) {
    case ("requests", "retry"): return [("POST", .retryAll)]
    case ("requests", "discard"): return [("POST", .discardAll)]
    case ("requests", "bulk"): return [("POST", .bulk)]
    case ("requests", _):
      let request: RequestID = try id(name, ofA: "request")
      return [("GET", .request(request)), ("DELETE", .cancel(request))]
    case ("transfers", _):
      let transfer: RequestID = try id(name, ofA: "transfer")
      return [("GET", .transfer(transfer)), ("DELETE", .cancelTransfer(transfer))]
    case ("runs", _): return [("GET", .run(try id(name, ofA: "run")))]
    case ("pauses", _):
      guard let pause = PauseID(name) else {
        throw RequestRefusal(
          .notFound, "\"\(name.prefix(80).escapingControlCharacters)\" is the number of no pause: see taskhost pause --list", field: "id")
      }
      return [("DELETE", .endPause(pause))]
    case ("assertions", _): return [("DELETE", .giveBackAssertion(try id(name, ofA: "assertion")))]
    case ("simulate", "launch"): return [("POST", .simulateLaunch)]
    case ("simulate", "expire"): return [("POST", .simulateExpiration)]
    case ("events", _) where !name.isEmpty: return [("POST", .notify(name))]
    default: return nil
    }
  }

  private static func detail(_ collection: String, _ name: String, _ part: String) throws(RequestRefusal) -> [Entry]? {
    switch (collection, part) {
    case ("requests", "why"): return [("GET", .why(try id(name, ofA: "request")))]
    case ("requests", "snooze"): return [("POST", .snooze(try id(name, ofA: "request")))]
    case ("requests", "retry"): return [("POST", .retry(try id(name, ofA: "request")))]
    case ("requests", "discard"): return [("POST", .discard(try id(name, ofA: "request")))]
    case ("transfers", "pause"): return [("POST", .pauseTransfer(try id(name, ofA: "transfer")))]
    case ("transfers", "resume"): return [("POST", .resumeTransfer(try id(name, ofA: "transfer")))]
    case ("runs", "logs"): return [("GET", .logs(try id(name, ofA: "run")))]
    case ("plugins", "release") where !name.isEmpty: return [("POST", .release(try identifier(name)))]
    default: return nil
    }
  }

  private static func id<Kind>(_ text: String, ofA kind: String) throws(RequestRefusal) -> RecordID<Kind> {
    if let id = RecordID<Kind>(text) { return id }
    throw RequestRefusal(
      .notFound,
      "\"\(text.prefix(80).escapingControlCharacters)\" is the id of no \(kind): ids look like 01976c1e-0000-7000-8000-000000000000",
      field: "id")
  }

  private static func identifier(_ text: String) throws(RequestRefusal) -> TaskIdentifier {
    do { return try TaskIdentifier(text) } catch {
      throw RequestRefusal(.notFound, error.description, field: "identifier")
    }
  }
}

extension Substring {
  fileprivate var escapingControlCharacters: String { String(self).escapingControlCharacters }
}
