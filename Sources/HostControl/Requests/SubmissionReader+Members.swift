import StrictText
import TaskModel

/// What a request carries, needs and belongs to.
extension SubmissionReader {
  private static let retryMembers = ["attempts", "backoff", "initial_ms", "maximum_ms"]
  private static let predecessorMembers = ["request", "on_failure"]

  func taskIdentifier(_ node: JSONNode) throws(RequestRefusal) -> TaskIdentifier {
    let text = try text(node, "identifier")
    do {
      return try TaskIdentifier(text)
    } catch {
      throw failure("identifier", error.description)
    }
  }

  func payload(_ name: String, _ value: JSONNode, of request: JSONNode) throws(RequestRefusal) -> [UInt8] {
    let payload: [UInt8]
    if name == "payload" {
      guard request["payload_base64"] == nil else { throw failure("payload_base64", "payload and payload_base64 exclude each other") }
      payload = Array(bytes[value.range])
    } else {
      guard let decoded = Base64.decode(try text(value, name)) else {
        throw failure(name, "is not base64 (RFC 4648 §4, with padding, without blanks)")
      }
      payload = decoded
    }
    guard payload.count <= Limits.payloadBytes else {
      throw failure(name, "\(payload.count) bytes, more than \(Limits.payloadBytes): pass a file's path instead", code: .tooBig)
    }
    return payload
  }

  func conditions(_ node: JSONNode) throws(RequestRefusal) -> Conditions {
    var conditions: Conditions = []
    for (index, name) in try strings(node, "conditions").enumerated() {
      guard let condition = Conditions(name: name) else {
        let shown = String(name.prefix(80)).escapingControlCharacters
        let hint = NearestName.hint(for: name, among: Conditions.named.map(\.name))
        throw failure("conditions[\(index)]", "there is no condition \"\(shown)\"\(hint)")
      }
      conditions.insert(condition)
    }
    return conditions
  }

  func tags(_ node: JSONNode) throws(RequestRefusal) -> [String] {
    let tags = try strings(node, "tags")
    guard tags.count <= Limits.tags else { throw failure("tags", "\(tags.count) tags, more than \(Limits.tags)") }
    for (index, tag) in tags.enumerated() where !(1...Limits.keyBytes).contains(tag.utf8.count) {
      throw failure("tags[\(index)]", "has \(tag.utf8.count) bytes: use 1 to \(Limits.keyBytes)")
    }
    return tags
  }

  /// `{"gpu": 1}`
  func resources(_ node: JSONNode) throws(RequestRefusal) -> [String: Int] {
    guard case .object(let members) = node.value else {
      throw failure("resources", "must be an object as {\"gpu\": 1}, this is \(node.kind)")
    }
    guard members.count <= Limits.resources else {
      throw failure("resources", "\(members.count) resources, more than \(Limits.resources)")
    }
    var resources: [String: Int] = [:]
    for member in members {
      guard (1...Limits.keyBytes).contains(member.name.utf8.count) else {
        throw failure("resources", "a name has \(member.name.utf8.count) bytes: use 1 to \(Limits.keyBytes)")
      }
      resources[member.name] = try integer(member.node, "resources.\(member.name)", in: Limits.resourceTokens)
    }
    return resources
  }

  /// `["ID", {"request": "ID", "on_failure": "ignore"}, "@0"]`
  func predecessors(_ node: JSONNode) throws(RequestRefusal) -> [Dependency] {
    guard let elements = node.array else { throw failure("after", "must be an array of requests' ids, this is \(node.kind)") }
    guard elements.count <= Limits.predecessors else {
      throw failure("after", "\(elements.count) requests, more than \(Limits.predecessors)")
    }
    var seen: Set<Dependency.Predecessor> = []
    var edges: [Dependency] = []
    for (index, element) in elements.enumerated() {
      let edge = try dependency(element, "after[\(index)]")
      guard seen.insert(edge.predecessor).inserted else { throw failure("after[\(index)]", "names a request for the second time") }
      edges.append(edge)
    }
    return edges
  }

  private func dependency(_ node: JSONNode, _ field: String) throws(RequestRefusal) -> Dependency {
    guard case .object(let members) = node.value else {
      guard node.string != nil else { throw failure(field, "must be a request's id, \"@0\" or an object, this is \(node.kind)") }
      return Dependency(try predecessor(node, field))
    }
    guard let request = node["request"] else { throw failure("\(field).request", "is missing: say which request must end first") }
    var edge = Dependency(try predecessor(request, "\(field).request"))
    for member in members {
      switch member.name {
      case "request": break
      case "on_failure": edge.onFailure = try named(member.node, "\(field).on_failure", Dependency.FailurePolicy.self)
      default:
        throw failure(
          "\(field).\(member.name)", "there is no such member\(NearestName.hint(for: member.name, among: Self.predecessorMembers))")
      }
    }
    return edge
  }

  /// An id, or `@INDEX`: an earlier request of the same array, so a circle cannot be written.
  private func predecessor(_ node: JSONNode, _ field: String) throws(RequestRefusal) -> Dependency.Predecessor {
    let text = try text(node, field)
    let shown = String(text.prefix(80)).escapingControlCharacters
    guard text.hasPrefix("@") else {
      guard let id = RequestID(text) else {
        throw failure(field, "\"\(shown)\" is the id of no request: ids look like 01976c1e-0000-7000-8000-000000000000")
      }
      return .request(id)
    }
    guard let own = index else { throw failure(field, "\"\(shown)\" is for arrays: this request is alone, name an id") }
    guard text.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }), let position = Int(text.dropFirst()) else {
      throw failure(field, "\"\(shown)\" is no place in the array: write @0 for its first request")
    }
    guard position < own else {
      throw failure(field, "\"\(shown)\" is not before this request, which is @\(own): put what must end first before it")
    }
    return .position(position)
  }

  /// What is left out is taken from ``RetryPolicy``'s own defaults.
  func retry(_ node: JSONNode) throws(RequestRefusal) -> RetryPolicy {
    guard case .object(let members) = node.value else { throw failure("retry", "must be an object, this is \(node.kind)") }
    var policy = RetryPolicy()
    for member in members {
      let field = "retry.\(member.name)"
      switch member.name {
      case "attempts": policy.attempts = try integer(member.node, field, in: Limits.attempts)
      case "backoff": policy.backoff = try named(member.node, field, RetryPolicy.Backoff.self)
      case "initial_ms": policy.initial = try retryDelay(member.node, field)
      case "maximum_ms": policy.maximum = try retryDelay(member.node, field)
      default: throw failure(field, "there is no such member\(NearestName.hint(for: member.name, among: Self.retryMembers))")
      }
    }
    guard policy.initial <= policy.maximum else {
      throw failure(
        "retry.initial_ms", "\(policy.initial.wholeMilliseconds) is above maximum_ms (\(policy.maximum.wholeMilliseconds)): raise that too")
    }
    return policy
  }

  private func retryDelay(_ node: JSONNode, _ field: String) throws(RequestRefusal) -> Duration {
    let range = Limits.retryDelays
    return .milliseconds(try integer(node, field, in: range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds))
  }
}
