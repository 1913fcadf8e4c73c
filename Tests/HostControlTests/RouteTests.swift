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
      ("POST", "/v1/reload"), ("POST", "/v1/shutdown"), ("GET", "/v1/stream"), ("GET", "/metrics"), ("GET", "/healthz"), ("GET", "/"),
      ("GET", "/openapi.json"),
    ])
  func found(_ method: String, _ path: String) throws {
    _ = try Route.find(method: method, path: path)
  }

  @Test(
    "a path that is not there is 404",
    arguments: [
      "/v1", "/v2/requests", "/v1/requests/", "/v1/requests/x", "/v1/requests/\(id)/x", "/v1/runs/\(id)/logs/x", "/x", "//", "/v1//",
    ])
  func unknown(_ path: String) {
    let refusal = #expect(throws: RequestRefusal.self) { try Route.find(method: "GET", path: path) }
    #expect(refusal?.code == .notFound)
  }

  @Test("a wrong method leads to the right ones")
  func wrongMethod() throws {
    #expect(try Route.find(method: "PUT", path: "/v1/requests") == .otherMethods(["GET", "POST", "DELETE"]))
  }
}
