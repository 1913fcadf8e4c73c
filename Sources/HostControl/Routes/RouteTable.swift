import NIOHTTP1
import StrictText
import TaskModel

/// Finds the route of a method and a path.
struct RouteTable: Sendable {
  /// What a method and a path ask for.
  enum Match: Sendable {
    /// A route, and the argument in the path, decoded; nil if its path has none.
    case route(Route, argument: String?, answer: Route.Answer)
    /// A page of the dashboard, or what belongs to one: ``PageResponder`` reads the path.
    case page
    /// The path answers only these methods.
    case otherMethods([HTTPMethod])

    /// How many bytes of a request's body are read.
    var bodyLimit: Int {
      switch self {
      case .route(let route, _, _): route.bodyLimit
      case .page: PageResponder.formBytes
      case .otherMethods: 0
      }
    }

    /// Whether it may change something, so that it matters who asks.
    var isChange: Bool {
      switch self {
      case .route(let route, _, _): route.isChange
      case .page: true
      case .otherMethods: false
      }
    }
  }

  /// A path with an argument in it.
  private struct Template: Sendable {
    let parts: [Substring]
    /// The place of the argument.
    let argument: Int
    var routes: [Route]

    func matches(_ path: [Substring]) -> Bool {
      path.count == parts.count && !path[argument].isEmpty && parts.indices.allSatisfy { $0 == argument || path[$0] == parts[$0] }
    }
  }

  /// All routes, in the order of the description.
  let routes: [Route]
  private var plain: [String: [Route]] = [:]
  private var templates: [Template] = []

  /// The routes of the control API.
  static let control = RouteTable(
    Route.requests + Route.runs + Route.transfers + Route.scheduling + Route.plugins + Route.host + Route.audit)

  init(_ routes: [Route]) {
    self.routes = routes
    for route in routes {
      let parts = Self.parts(of: route.path)
      guard let argument = parts.firstIndex(where: { $0.hasPrefix("{") }) else {
        plain[route.path, default: []].append(route)
        continue
      }
      if let index = templates.firstIndex(where: { $0.parts == parts }) {
        templates[index].routes.append(route)
      } else {
        templates.append(Template(parts: parts, argument: argument, routes: [route]))
      }
    }
  }

  /// - Parameter path: As the client sent it, percent-encoded. A path that is written out goes before one with an argument.
  func find(_ method: HTTPMethod, _ path: String) throws(RequestRefusal) -> Match {
    if PageResponder.serves(path) { return .page }
    if let routes = plain[path] { return try Self.choose(method, routes, argument: nil) }
    let parts = Self.parts(of: path)
    guard let template = templates.first(where: { $0.matches(parts) }) else {
      throw RequestRefusal(.notFound, "there is nothing at \(path.prefix(200).description.escapingControlCharacters)")
    }
    return try Self.choose(method, template.routes, argument: try QueryParameters.decode(parts[template.argument]))
  }

  private static func choose(_ method: HTTPMethod, _ routes: [Route], argument: String?) throws(RequestRefusal) -> Match {
    guard let route = routes.first(where: { $0.method == method }) else { return .otherMethods(routes.map(\.method)) }
    return .route(route, argument: argument, answer: try route.bind(argument ?? ""))
  }

  private static func parts(of path: String) -> [Substring] { path.split(separator: "/", omittingEmptySubsequences: false) }
}
