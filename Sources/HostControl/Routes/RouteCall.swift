/// A request to a route, with its query read.
struct RouteCall: Sendable {
  let request: ControlRequest
  let query: QueryParameters

  var body: [UInt8] { request.body }
}
