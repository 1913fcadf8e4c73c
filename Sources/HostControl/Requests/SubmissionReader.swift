import StrictText
import TaskModel

/// Turns the body of `POST /v1/requests` into requests: the shape and the ranges are checked here, the host's rules by the host.
struct SubmissionReader {
  /// Requests of one array.
  static let maximumRequests = 10_000

  /// Members that a request has.
  static let members = [
    "identifier", "payload", "payload_base64", "earliest_begin", "earliest_begin_unix_ms", "delay_ms", "every_ms", "priority",
    "conditions", "unique_key", "on_conflict", "retry", "tags",
  ]
  /// Members that the design knows and this version does not.
  static let laterMembers = [
    "deadline", "deadline_unix_ms", "cron", "time_zone", "flex_ms", "missed", "after", "event", "idempotency_key",
  ]
  private static let retryMembers = ["attempts", "backoff", "initial_ms", "maximum_ms"]
  /// The end of the year 9999, the last moment that RFC 3339 can write.
  private static let lastMoment: Int64 = 253_402_300_799_999

  private let bytes: [UInt8]
  private let now: WallTime
  /// Where in the array the present request is; nil: it is alone.
  private var index: Int?

  /// Reads the one request, or the array of them, in `bytes`.
  ///
  /// - Parameter now: What `delay_ms` counts from.
  static func read(_ bytes: [UInt8], now: WallTime) throws(ControlError) -> (requests: [TaskRequest], isArray: Bool) {
    let root = try parse(bytes, opaque: ["payload"])
    var reader = SubmissionReader(bytes: bytes, now: now)
    guard case .array(let elements) = root.value else {
      return ([try reader.request(root)], false)
    }
    guard !elements.isEmpty else { throw ControlError(.invalid, "the array is empty: send at least one request") }
    guard elements.count <= maximumRequests else {
      throw ControlError(.tooBig, "the array has \(elements.count) requests, more than \(maximumRequests): send several arrays")
    }
    var requests: [TaskRequest] = []
    requests.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      reader.index = index
      requests.append(try reader.request(element))
    }
    return (requests, true)
  }

  /// Reads any JSON body.
  static func parse(_ bytes: [UInt8], opaque: [String] = []) throws(ControlError) -> JSONNode {
    do {
      return try JSONReader.read(bytes, limits: JSONLimits(opaqueMembers: opaque))
    } catch {
      throw ControlError(error.isLimit ? .tooBig : .invalid, "the body is not JSON that can be read: \(error)")
    }
  }

  private init(bytes: [UInt8], now: WallTime) {
    self.bytes = bytes
    self.now = now
  }

  private func failure(_ field: String?, _ message: String, code: ControlError.Code = .invalid) -> ControlError {
    let path = [index.map { "[\($0)]" }, field].compactMap(\.self).joined(separator: ".")
    return ControlError(code, path.isEmpty ? message : "\(path): \(message)", field: path.isEmpty ? nil : path)
  }

  private func request(_ node: JSONNode) throws(ControlError) -> TaskRequest {
    guard case .object(let members) = node.value else { throw failure(nil, "a request is an object, this is \(node.kind)") }
    guard let identifier = node["identifier"] else { throw failure("identifier", "is missing: say whose handler is to run") }
    var request = TaskRequest(identifier: try taskIdentifier(identifier))
    var begins: [String] = []
    for member in members {
      let (name, value) = (member.name, member.node)
      switch name {
      case "identifier": break
      case "payload", "payload_base64": request.payload = try payload(name, value, of: node)
      case "earliest_begin", "earliest_begin_unix_ms", "delay_ms":
        begins.append(name)
        request.earliestBegin = try begin(name, value)
      case "every_ms":
        request.repetition = RepeatRule(every: .milliseconds(try integer(value, name, in: 1...Self.lastMoment)))
      case "priority":
        let range = Int64(Limits.priorities.lowerBound)...Int64(Limits.priorities.upperBound)
        request.priority = Int(try integer(value, name, in: range))
      case "conditions": request.conditions = try conditions(value)
      case "unique_key": request.uniqueKey = try uniqueKey(value)
      case "on_conflict": request.onConflict = try named(value, name, ConflictPolicy.self)
      case "retry": request.retry = try retry(value)
      case "tags": request.tags = try tags(value)
      default: throw unknown(name)
      }
    }
    guard begins.count < 2 else { throw failure(begins[1], "\(begins.joined(separator: " and ")) exclude each other: send one") }
    try checkConflict(&request, given: node["on_conflict"] != nil)
    return request
  }

  private func unknown(_ name: String) -> ControlError {
    if Self.laterMembers.contains(name) {
      return failure(name, "comes with a later version of taskhost: leave it out", code: .unsupported)
    }
    return failure(name, "there is no such member\(NearestName.hint(for: name, among: Self.members))")
  }

  /// A key without a policy means `keep`; a policy without a key would have no effect.
  private func checkConflict(_ request: inout TaskRequest, given: Bool) throws(ControlError) {
    switch (request.uniqueKey, request.onConflict) {
    case (.some, .none) where !given: request.onConflict = .keep
    case (.some, .none): throw failure("on_conflict", "none with a unique_key: choose keep or replace, or leave the key out")
    case (nil, .keep), (nil, .replace), (nil, .update), (nil, .append):
      throw failure("unique_key", "is missing: on_conflict is about requests with the same key")
    default: break
    }
  }

  // MARK: Members

  private func text(_ node: JSONNode, _ field: String) throws(ControlError) -> String {
    guard let text = node.string else { throw failure(field, "must be a string, this is \(node.kind)") }
    return text
  }

  private func integer(_ node: JSONNode, _ field: String, in range: ClosedRange<Int64>) throws(ControlError) -> Int64 {
    guard case .number = node.value else { throw failure(field, "must be a whole number, this is \(node.kind)") }
    guard let number = node.integer else {
      let text = String(decoding: bytes[node.range].prefix(40), as: UTF8.self)
      throw failure(field, "must be a whole number from \(range.lowerBound) to \(range.upperBound), this is \(text)")
    }
    guard range.contains(number) else {
      throw failure(field, "\(number) is outside of \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private func named<Name>(_ node: JSONNode, _ field: String, _: Name.Type) throws(ControlError) -> Name
  where Name: RawRepresentable<String> & CaseIterable {
    let text = try text(node, field)
    guard let name = Name(rawValue: text) else {
      throw failure(field, "there is no \"\(text)\"\(NearestName.hint(for: text, among: Name.allCases.map(\.rawValue)))")
    }
    return name
  }

  private func taskIdentifier(_ node: JSONNode) throws(ControlError) -> TaskIdentifier {
    let text = try text(node, "identifier")
    do {
      return try TaskIdentifier(text)
    } catch {
      throw failure("identifier", error.description)
    }
  }

  private func payload(_ name: String, _ value: JSONNode, of request: JSONNode) throws(ControlError) -> [UInt8] {
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

  private func begin(_ name: String, _ value: JSONNode) throws(ControlError) -> WallTime {
    switch name {
    case "delay_ms": return now + .milliseconds(try integer(value, name, in: 0...Self.lastMoment))
    case "earliest_begin_unix_ms": return WallTime(unixMilliseconds: try integer(value, name, in: 0...Self.lastMoment))
    default:
      let text = try text(value, name)
      guard let time = RFC3339.parse(text) else {
        throw failure(name, "\"\(text.prefix(60))\" is no time: write it as 2026-11-21T08:00:00Z or with an offset as +01:00")
      }
      return time
    }
  }

  private func strings(_ node: JSONNode, _ field: String) throws(ControlError) -> [String] {
    guard let elements = node.array else { throw failure(field, "must be an array of strings, this is \(node.kind)") }
    var strings: [String] = []
    for (index, element) in elements.enumerated() { strings.append(try text(element, "\(field)[\(index)]")) }
    return strings
  }

  private func conditions(_ node: JSONNode) throws(ControlError) -> Conditions {
    var conditions: Conditions = []
    for (index, name) in try strings(node, "conditions").enumerated() {
      guard let condition = Conditions(name: name) else {
        let hint = NearestName.hint(for: name, among: Conditions.named.map(\.name))
        throw failure("conditions[\(index)]", "there is no condition \"\(name)\"\(hint)")
      }
      conditions.insert(condition)
    }
    return conditions
  }

  private func uniqueKey(_ node: JSONNode) throws(ControlError) -> String {
    let key = try text(node, "unique_key")
    guard (1...Limits.keyBytes).contains(key.utf8.count) else {
      throw failure("unique_key", "has \(key.utf8.count) bytes: use 1 to \(Limits.keyBytes)")
    }
    return key
  }

  private func tags(_ node: JSONNode) throws(ControlError) -> [String] {
    let tags = try strings(node, "tags")
    guard tags.count <= Limits.tags else { throw failure("tags", "\(tags.count) tags, more than \(Limits.tags)") }
    for (index, tag) in tags.enumerated() where !(1...Limits.keyBytes).contains(tag.utf8.count) {
      throw failure("tags[\(index)]", "has \(tag.utf8.count) bytes: use 1 to \(Limits.keyBytes)")
    }
    return tags
  }

  /// What is left out is taken from ``RetryPolicy``'s own defaults.
  private func retry(_ node: JSONNode) throws(ControlError) -> RetryPolicy {
    guard case .object(let members) = node.value else { throw failure("retry", "must be an object, this is \(node.kind)") }
    var policy = RetryPolicy()
    for member in members {
      let field = "retry.\(member.name)"
      switch member.name {
      case "attempts": policy.attempts = Int(try integer(member.node, field, in: 1...1_000_000))
      case "backoff": policy.backoff = try named(member.node, field, RetryPolicy.Backoff.self)
      case "initial_ms": policy.initial = .milliseconds(try integer(member.node, field, in: 0...Self.lastMoment))
      case "maximum_ms": policy.maximum = .milliseconds(try integer(member.node, field, in: 0...Self.lastMoment))
      default: throw failure(field, "there is no such member\(NearestName.hint(for: member.name, among: Self.retryMembers))")
      }
    }
    guard policy.initial <= policy.maximum else {
      throw failure(
        "retry.initial_ms", "\(policy.initial.wholeMilliseconds) is above maximum_ms (\(policy.maximum.wholeMilliseconds)): raise that too")
    }
    return policy
  }
}
