import CalendarTime
import StrictText
import TaskModel

/// Turns the body of `POST /v1/requests` into requests: the shape and the ranges are checked here, the host's rules by the host.
struct SubmissionReader {
  /// Requests of one array.
  static let maximumRequests = 10_000

  /// Members that a request has.
  static let members =
    [
      "identifier", "payload", "payload_base64", "flex_ms", "priority", "conditions", "on_lost_condition", "window", "unique_key",
      "on_conflict", "unique_window_ms", "idempotency_key", "after", "concurrency_key", "resources", "retry", "tags",
    ] + scheduleMembers.keys.sorted()

  let bytes: [UInt8]
  let now: WallTime
  let hostTimeZone: () -> String
  /// Where in the array the present request is; nil: it is alone.
  private(set) var index: Int?
  /// The identifier of the request before it in the array, which is checked: arrays are mostly of one.
  private var known: TaskIdentifier?

  /// Reads the one request, or the array of them, in `bytes`.
  ///
  /// - Parameters:
  ///   - now: What `delay_ms` counts from.
  ///   - idempotencyKey: The header `Idempotency-Key`, which stands for the member of a single request.
  ///   - hostTimeZone: The zone of a `cron` that names none; the machine's unless a test sets another.
  static func read(
    _ bytes: [UInt8], now: WallTime, idempotencyKey: String? = nil, hostTimeZone: @escaping () -> String = { HostTimeZone.name }
  ) throws(RequestRefusal) -> (requests: [TaskRequest], isArray: Bool) {
    let root = try parse(bytes, opaque: ["payload"])
    var reader = SubmissionReader(bytes: bytes, now: now, hostTimeZone: hostTimeZone)
    guard case .array(let elements) = root.value else {
      var request = try reader.request(root)
      if let idempotencyKey { try reader.apply(idempotencyKey, to: &request) }
      return ([request], false)
    }
    guard idempotencyKey == nil else {
      throw RequestRefusal(
        .invalid, "the header Idempotency-Key is for a single request: give each of an array its own idempotency_key",
        field: "idempotency_key")
    }
    guard !elements.isEmpty else { throw RequestRefusal(.invalid, "the array is empty: send at least one request") }
    guard elements.count <= maximumRequests else {
      throw RequestRefusal(.tooBig, "the array has \(elements.count) requests, more than \(maximumRequests): send several arrays")
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
  static func parse(_ bytes: [UInt8], opaque: [String] = []) throws(RequestRefusal) -> JSONNode {
    do {
      return try JSONReader.read(bytes, limits: JSONLimits(opaqueMembers: opaque))
    } catch {
      throw RequestRefusal(error.isLimit ? .tooBig : .invalid, "the body is not JSON that can be read: \(error)")
    }
  }

  private init(bytes: [UInt8], now: WallTime, hostTimeZone: @escaping () -> String) {
    self.bytes = bytes
    self.now = now
    self.hostTimeZone = hostTimeZone
  }

  private mutating func request(_ node: JSONNode) throws(RequestRefusal) -> TaskRequest {
    guard case .object(let members) = node.value else { throw failure(nil, "a request is an object, this is \(node.kind)") }
    guard let identifier = node["identifier"] else { throw failure("identifier", "is missing: say whose handler is to run") }
    var request = TaskRequest(identifier: try checkedIdentifier(identifier))
    var schedule: ScheduleParts = []
    for member in members {
      let (name, value) = (member.name, member.node)
      if let parts = Self.scheduleMembers[name] {
        schedule.formUnion(parts)
        continue
      }
      switch name {
      case "identifier": break
      case "payload", "payload_base64": request.payload = try payload(name, value, of: node)
      case "flex_ms": request.gates.flex = try milliseconds(value, name)
      case "priority": request.priority = try integer(value, name, in: Limits.priorities)
      case "conditions": request.conditions = try conditions(value)
      case "on_lost_condition":
        let policy = try named(value, name, LostConditionPolicy.self)
        request.onLostCondition = policy
        request.gates.onLostCondition = policy
      case "window": request.gates.window = try key(value, name)
      case "unique_key": request.uniqueKey = try key(value, name)
      case "on_conflict": request.onConflict = try named(value, name, ConflictPolicy.self)
      case "unique_window_ms": request.uniqueWindow = try milliseconds(value, name, atLeast: 1)
      case "idempotency_key": request.idempotencyKey = try key(value, name)
      case "after": request.after = try predecessors(value)
      case "concurrency_key": request.gates.concurrencyKey = try key(value, name)
      case "resources": request.gates.resources = try resources(value)
      case "retry": request.retry = try retry(value)
      case "tags": request.tags = try tags(value)
      default: throw failure(name, "there is no such member\(NearestName.hint(for: name, among: Self.members))")
      }
    }
    try readSchedule(node, schedule, into: &request)
    try checkConflict(&request, given: node["on_conflict"] != nil)
    try checkTogether(request)
    return request
  }

  private mutating func checkedIdentifier(_ node: JSONNode) throws(RequestRefusal) -> TaskIdentifier {
    if let known, node.string == known.rawValue { return known }
    let identifier = try taskIdentifier(node)
    known = identifier
    return identifier
  }

  /// A key without a policy means `keep`; a policy without a key would have no effect.
  private func checkConflict(_ request: inout TaskRequest, given: @autoclosure () -> Bool) throws(RequestRefusal) {
    switch (request.uniqueKey, request.onConflict) {
    case (.some, .none) where !given(): request.onConflict = .keep
    case (.some, .none):
      throw failure("on_conflict", "none with a unique_key: choose keep, replace, update or append, or leave the key out")
    case (nil, .keep), (nil, .replace), (nil, .update), (nil, .append):
      throw failure("unique_key", "is missing: on_conflict is about requests with the same key")
    default: break
    }
  }

  /// What each member allows, but not with another.
  private func checkTogether(_ request: TaskRequest) throws(RequestRefusal) {
    if request.uniqueWindow != nil, request.uniqueKey == nil {
      throw failure("unique_key", "is missing: unique_window_ms is about how long it is held")
    }
    if let deadline = request.deadline, let earliest = request.earliestBegin, deadline < earliest {
      throw failure("deadline", "lies before the earliest begin: move one of them")
    }
    guard request.repetition != nil else { return }
    if !request.after.isEmpty {
      throw failure("after", "a request that repeats cannot wait for others: let the first of them repeat, or leave after out")
    }
    if request.onConflict == .append {
      throw failure("on_conflict", "a request that repeats cannot be appended: choose keep, replace or update")
    }
  }

  /// The header stands for the member; where both are there they must agree.
  private func apply(_ header: String, to request: inout TaskRequest) throws(RequestRefusal) {
    guard (1...Limits.keyBytes).contains(header.utf8.count) else {
      throw failure("idempotency_key", "the header Idempotency-Key has \(header.utf8.count) bytes: use 1 to \(Limits.keyBytes)")
    }
    guard request.idempotencyKey == nil || request.idempotencyKey == header else {
      throw failure("idempotency_key", "is not what the header Idempotency-Key says: send one of them")
    }
    request.idempotencyKey = header
  }
}
