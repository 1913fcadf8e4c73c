import StrictText
import TaskModel

extension SubmissionReader {
  /// Reads a field. `node` is the whole request, with the fields that modify this one.
  func read(_ field: RequestField, _ value: JSONNode, of node: JSONNode, into request: inout TaskRequest) throws(RequestRefusal) {
    switch field {
    case .identifier: break
    case .payload, .payloadBase64: request.payload = try payload(field, value)
    case .delay:
      let delay = try milliseconds(value, field)
      try field.check(delay)
      request.delay = delay
    case .earliestBegin, .earliestBeginUnix: request.earliestBegin = try moment(value, field)
    case .deadline, .deadlineUnix: request.deadline = try moment(value, field)
    case .every: request.repetition = RepeatRule(.every(try milliseconds(value, field)), missed: try missed(node))
    case .cron: request.repetition = RepeatRule(.cron(try cron(value, of: node)), missed: try missed(node))
    case .everyEvent: if try truth(value, field) { request.repetition = RepeatRule(.event) }
    case .event, .watch:
      let prefix = field == .watch ? EventTrigger.filePrefix : ""
      let event = EventTrigger(prefix + (try text(value, field)), debounce: try debounce(node))
      // Only here is it known which of them was sent.
      try event.check(pathIn: field)
      request.event = event
    // Read with the fields that they modify.
    case .debounce, .timeZone, .daylightGap, .daylightRepeat, .missed, .missedLimit, .missedSpread: break
    case .flex: request.gates.flex = try milliseconds(value, field)
    case .wake: request.gates.wakes = try truth(value, field)
    case .jitter: request.jitter = try milliseconds(value, field)
    case .priority: request.priority = Int(clamping: try integer(value, field))
    case .conditions: request.conditions = try conditions(value)
    case .onLostCondition:
      request.gates.onLostCondition = try named(value, field)
      request.onLostCondition = request.gates.onLostCondition
    case .window: request.gates.window = try text(value, field)
    case .concurrencyKey: request.gates.concurrencyKey = try text(value, field)
    case .resources: request.gates.resources = try resources(value)
    case .prefer: request.gates.prefer = try text(value, field)
    case .uniqueKey: request.uniqueKey = try text(value, field)
    case .onConflict: request.onConflict = try named(value, field)
    case .uniqueWindow: request.uniqueWindow = try milliseconds(value, field)
    case .idempotencyKey: request.idempotencyKey = try text(value, field)
    case .after: request.after = try predecessors(value)
    case .retry: request.retry = try retry(value)
    case .tags: request.tags = try strings(value, field)
    case .traceparent: request.traceparent = try TraceParent(field: try text(value, field))
    }
  }

  func taskIdentifier(_ node: JSONNode) throws(RequestRefusal) -> TaskIdentifier {
    let text = try text(node, .identifier)
    do { return try TaskIdentifier(text) } catch { throw RequestField.identifier.refusal(error.description) }
  }

  func payload(_ field: RequestField, _ value: JSONNode) throws(RequestRefusal) -> [UInt8] {
    let decoded = field == .payload ? Array(bytes[value.range]) : Base64.decode(try text(value, field))
    guard let decoded else { throw field.refusal("is not base64 (RFC 4648 §4, with padding, without blanks)") }
    try RequestField.payload.check(payloadBytes: decoded.count)
    return decoded
  }

  private func debounce(_ node: JSONNode) throws(RequestRefusal) -> Duration {
    guard let debounce = node[.debounce] else { return .zero }
    return try milliseconds(debounce, .debounce)
  }

  private func cron(_ value: JSONNode, of node: JSONNode) throws(RequestRefusal) -> CronRule {
    var rule = CronRule(try text(value, .cron), timeZone: "")
    if let zone = node[.timeZone] {
      rule.timeZone = try text(zone, .timeZone)
      try RequestField.timeZone.check(key: rule.timeZone)
    } else {
      rule.timeZone = hostTimeZone()
    }
    if let gap = node[.daylightGap] { rule.daylight.gap = try named(gap, .daylightGap) }
    if let repeated = node[.daylightRepeat] { rule.daylight.repeated = try named(repeated, .daylightRepeat) }
    return rule
  }

  private func missed(_ node: JSONNode) throws(RequestRefusal) -> MissedPolicy {
    let name = try node[.missed].map { value throws(RequestRefusal) in try text(value, .missed) } ?? MissedPolicy.latest.name
    guard MissedPolicy.names.contains(name) else { throw noSuchName(name, among: MissedPolicy.names, .missed) }
    guard name == "all" else {
      for field in [RequestField.missedLimit, .missedSpread] where node[field] != nil {
        throw field.refusal("needs \"missed\": \"all\"")
      }
      return name == "skip" ? .skip : .latest
    }
    var (limit, spread) = (MissedPolicy.presetLimit, MissedPolicy.presetSpread)
    if let value = node[.missedLimit] { limit = Int(clamping: try integer(value, .missedLimit)) }
    if let value = node[.missedSpread] { spread = try milliseconds(value, .missedSpread) }
    return .all(limit: limit, spread: spread)
  }

  private func conditions(_ node: JSONNode) throws(RequestRefusal) -> Conditions {
    var conditions: Conditions = []
    for (index, name) in try strings(node, .conditions).enumerated() {
      conditions.formUnion(try Conditions(known: name, field: "\(RequestField.conditions.rawValue)[\(index)]"))
    }
    return conditions
  }

  /// `{"gpu": 1}`
  private func resources(_ node: JSONNode) throws(RequestRefusal) -> [String: Int] {
    guard case .object(let members) = node.value else {
      throw RequestField.resources.refusal("must be an object as {\"gpu\": 1}, this is \(node.kind)")
    }
    var resources: [String: Int] = [:]
    for member in members {
      resources[member.name] = Int(clamping: try integer(member.node, .resources, part: ".\(member.name.prefix(80))"))
    }
    return resources
  }

  /// `["ID", {"request": "ID", "on_failure": "ignore"}, "@0"]`
  private func predecessors(_ node: JSONNode) throws(RequestRefusal) -> [Dependency] {
    guard let elements = node.array else { throw RequestField.after.refusal("must be an array of requests' ids, this is \(node.kind)") }
    var edges: [Dependency] = []
    for (index, element) in elements.enumerated() { edges.append(try dependency(element, part: "[\(index)]")) }
    return edges
  }

  private func dependency(_ node: JSONNode, part: String) throws(RequestRefusal) -> Dependency {
    guard case .object(let members) = node.value else {
      guard let id = node.string else {
        throw RequestField.after.refusal("must be a request's id, \"@0\" or an object, this is \(node.kind)", part: part)
      }
      return Dependency(try predecessor(id, part: part))
    }
    var predecessor: Dependency.Predecessor?
    var onFailure = Dependency.FailurePolicy.fail
    for member in members {
      let inner = "\(part).\(member.name)"
      switch RequestField.Predecessor(rawValue: member.name) {
      case .request: predecessor = try self.predecessor(try text(member.node, .after, part: inner), part: part)
      case .onFailure: onFailure = try named(member.node, .after, part: inner)
      case nil:
        throw Self.unknown(
          member.name, of: "\(RequestField.after.rawValue)\(part).", among: RequestField.Predecessor.allCases.map(\.rawValue))
      }
    }
    guard let predecessor else {
      throw RequestField.after.refusal(
        "is missing: say which request must end first", part: "\(part).\(RequestField.Predecessor.request.rawValue)")
    }
    return Dependency(predecessor, onFailure: onFailure)
  }

  /// An id, or `@INDEX`: an earlier request of the same array, which rules out cycles.
  ///
  /// - Parameter part: The element of `after`, whether it is the id itself or an object with it.
  private func predecessor(_ text: String, part: String) throws(RequestRefusal) -> Dependency.Predecessor {
    let shown = String(text.prefix(80)).escapingControlCharacters
    func failure(_ flaw: String) -> RequestRefusal { RequestField.after.refusal("\"\(shown)\" \(flaw)", part: part) }
    guard text.hasPrefix("@") else {
      guard let id = RequestID(text) else {
        throw failure("is the id of no request: ids look like 01976c1e-0000-7000-8000-000000000000")
      }
      return .request(id)
    }
    guard let own = index else { throw failure("is for arrays: this request is alone, name an id") }
    guard text.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }), let position = Int(text.dropFirst()) else {
      throw failure("is not a place in the array: write @0 for its first request")
    }
    guard position < own else { throw failure("is not before this request, which is @\(own): put what must end first before it") }
    return .position(position)
  }

  /// Absent members take ``RetryPolicy``'s defaults.
  private func retry(_ node: JSONNode) throws(RequestRefusal) -> RetryPolicy {
    guard case .object(let members) = node.value else { throw RequestField.retry.refusal("must be an object, this is \(node.kind)") }
    var policy = RetryPolicy()
    for member in members {
      guard let name = RequestField.Retry(rawValue: member.name) else {
        throw Self.unknown(member.name, of: "\(RequestField.retry.rawValue).", among: RequestField.Retry.allCases.map(\.rawValue))
      }
      switch name {
      case .attempts: policy.attempts = Int(clamping: try integer(member.node, .retry, part: name.part))
      case .backoff: policy.backoff = try named(member.node, .retry, part: name.part)
      case .initial: policy.initial = try milliseconds(member.node, .retry, part: name.part)
      case .maximum: policy.maximum = try milliseconds(member.node, .retry, part: name.part)
      }
    }
    return policy
  }
}
