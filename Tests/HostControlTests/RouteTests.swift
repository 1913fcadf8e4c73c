import NIOHTTP1
import StrictText
import TaskModel
import Testing

@testable import HostControl

@Suite("Routes") struct RouteTests {
  private static let id = "01976c1e-0000-7000-8000-000000000000"

  @Test(
    "a method and a path lead to what they say",
    arguments: [
      ("POST", "/v1/requests"), ("GET", "/v1/requests"), ("GET", "/v1/requests/\(id)"), ("DELETE", "/v1/requests/\(id)"),
      ("GET", "/v1/requests/\(id)/why"), ("POST", "/v1/requests/\(id)/retry"), ("GET", "/v1/runs"), ("GET", "/v1/runs/\(id)"),
      ("GET", "/v1/runs/\(id)/logs"), ("GET", "/v1/plugins"), ("POST", "/v1/plugins/a/release"), ("POST", "/v1/simulate/launch"),
      ("POST", "/v1/simulate/expire"), ("POST", "/v1/requests/\(id)/snooze"), ("POST", "/v1/requests/\(id)/discard"),
      ("POST", "/v1/requests/discard"), ("DELETE", "/v1/requests"), ("GET", "/v1/conditions"),
      ("GET", "/v1/pauses"), ("POST", "/v1/pauses"), ("DELETE", "/v1/pauses"), ("DELETE", "/v1/pauses/7"),
      ("GET", "/v1/assertions"), ("POST", "/v1/assertions"), ("DELETE", "/v1/assertions/\(id)"),
      ("GET", "/v1/transfers"), ("POST", "/v1/transfers"), ("GET", "/v1/transfers/\(id)"), ("DELETE", "/v1/transfers/\(id)"),
      ("POST", "/v1/transfers/\(id)/pause"), ("POST", "/v1/transfers/\(id)/resume"), ("PUT", "/v1/conditions"),
      ("DELETE", "/v1/conditions"), ("POST", "/v1/events/x"), ("GET", "/v1/status"), ("GET", "/v1/problems"), ("GET", "/v1/forecast"),
      ("POST", "/v1/reload"), ("POST", "/v1/shutdown"), ("GET", "/v1/stream"), ("GET", "/metrics"), ("GET", "/healthz"),
      ("POST", "/v1/plugins/a/approve"), ("POST", "/v1/plugins/a/revoke"), ("GET", "/openapi.json"), ("GET", "/v1/audit"),
      ("GET", "/v1/configuration"),
    ])
  func found(_ method: String, _ path: String) throws {
    guard case .route = try RouteTable.control.find(HTTPMethod(rawValue: method), path) else {
      Issue.record("\(method) \(path) is not answered")
      return
    }
  }

  @Test("pages lead to the dashboard, whatever the method", arguments: ["/", "/ui", "/ui/requests", "/ui/nothing"])
  func pages(_ path: String) throws {
    for method in [HTTPMethod.GET, .POST, .PUT] {
      guard case .page = try RouteTable.control.find(method, path) else {
        Issue.record("\(method) \(path) is no page")
        return
      }
    }
  }

  @Test(
    "a path that is not there is 404",
    arguments: [
      "/v1", "/v2/requests", "/v1/requests/", "/v1/requests/x", "/v1/requests/\(id)/x", "/v1/runs/\(id)/logs/x", "/x", "//", "/v1//",
    ])
  func unknown(_ path: String) {
    let refusal = #expect(throws: RequestRefusal.self) { try RouteTable.control.find(.GET, path) }
    #expect(refusal?.code == .notFound)
  }

  @Test("a wrong method leads to the right ones")
  func wrongMethod() throws {
    guard case .otherMethods(let methods) = try RouteTable.control.find(.PUT, "/v1/requests") else {
      Issue.record("PUT is answered")
      return
    }
    #expect(methods == [.GET, .POST, .DELETE])
  }

  @Test("a path that is written out goes before one with an argument, and arguments are decoded") func order() throws {
    guard case .route(let all, _, _) = try RouteTable.control.find(.POST, "/v1/requests/retry"),
      case .route(let event, _, _) = try RouteTable.control.find(.POST, "/v1/events/a%2Fb")
    else {
      Issue.record("not found")
      return
    }
    #expect(all.name == "retryRequests")
    #expect(event.name == "raiseEvent")
    #expect(throws: RequestRefusal.self) { try RouteTable.control.find(.POST, "/v1/events/%00") }
    #expect(throws: RequestRefusal.self) { try RouteTable.control.find(.POST, "/v1/events/%4") }
  }

  @Test("the description names each route once, with its parameters and the role it needs") func described() throws {
    let document = try JSONReader.read(OpenAPIDocument.describing(RouteTable.control.routes))
    #expect(document["openapi"]?.string == "3.1.0")
    let routes = RouteTable.control.routes
    #expect(Set(routes.map(\.name)).count == routes.count)
    for route in routes {
      let operation = try #require(document["paths"]?[route.path]?[route.method.rawValue.lowercased()], "\(route.path)")
      #expect(operation["operationId"]?.string == route.name)
      let roles = operation["security"]?.array?.first?["token"]?.array?.compactMap(\.string) ?? []
      #expect(roles == (route.role.map { [$0.rawValue] } ?? []))
      let names = operation["parameters"]?.array?.compactMap { $0["name"]?.string } ?? []
      #expect(Set(names).isSuperset(of: route.query.map(\.name)))
      #expect((operation["requestBody"] != nil) == (route.body != nil))
      for status in ["401", "403"] { #expect((operation["responses"]?[status] != nil) == (route.role != nil), "\(route.name)") }
    }
    #expect(document["components"]?["securitySchemes"]?["token"]?["scheme"]?.string == "bearer")
    #expect(document["paths"]?["/"] == nil)
  }

  @Test("whoever only reads changes nothing") func roles() {
    for route in RouteTable.control.routes where route.role == .read || route.role == nil { #expect(!route.isChange, "\(route.name)") }
  }

  @Test("the description of a submission has all fields of a request") func fields() throws {
    let document = try JSONReader.read(OpenAPIDocument.describing(RouteTable.control.routes))
    let schema = try #require(document["components"]?["schemas"]?[NamedSchema.newRequest.rawValue])
    for field in RequestField.allCases { #expect(schema["properties"]?[field.rawValue] != nil, "\(field.rawValue)") }
    #expect(schema["required"]?.array?.compactMap(\.string) == ["identifier"])
  }
}
