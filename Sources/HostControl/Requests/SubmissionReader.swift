import CalendarTime
import StrictText
import TaskModel

/// Turns the body of `POST /v1/requests` into requests. The host checks its own rules.
struct SubmissionReader {
  /// Most requests in one array.
  static let maximumRequests = 10_000

  /// The text that holds the values.
  let bytes: [UInt8]
  var hostTimeZone: () -> String = { HostTimeZone.name }
  /// The trace of the whole submission.
  private var traceparent: TraceParent?
  /// The index of this request in the array; nil outside an array.
  private(set) var index: Int?
  /// The checked identifier of the previous request in the array: most arrays use only one.
  private var known: TaskIdentifier?
  /// Whose requests they are, if the route says so: then a body need not.
  private var expected: TaskIdentifier?

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Reads one request or an array of requests.
  ///
  /// - Parameters:
  ///   - identifier: Whose requests they are, if the route says so. Nil: each request says so.
  ///   - idempotencyKey: The header `Idempotency-Key`, which replaces the member of a single request.
  ///   - traceparent: The header `traceparent`, for requests without the member.
  ///   - hostTimeZone: The zone of a `cron` without one; the machine's, except in tests.
  static func read(
    _ bytes: [UInt8], of identifier: TaskIdentifier? = nil, idempotencyKey: String? = nil, traceparent: TraceParent? = nil,
    hostTimeZone: @escaping () -> String = { HostTimeZone.name }
  ) throws(RequestRefusal) -> (requests: [TaskRequest], isArray: Bool) {
    let root = try parse(bytes, opaque: [RequestField.payload.rawValue])
    var reader = SubmissionReader(bytes: bytes)
    reader.expected = identifier
    (reader.hostTimeZone, reader.traceparent) = (hostTimeZone, traceparent)
    guard case .array(let elements) = root.value else {
      var request = try reader.request(root)
      if let idempotencyKey { try Self.apply(idempotencyKey, to: &request) }
      return ([request], false)
    }
    guard idempotencyKey == nil else {
      throw RequestField.idempotencyKey.refusal(
        "the header Idempotency-Key is for a single request: give each of an array its own idempotency_key")
    }
    guard !elements.isEmpty else { throw RequestRefusal(.invalid, "the array is empty: send at least one request") }
    guard elements.count <= maximumRequests else {
      throw RequestRefusal(.tooBig, "the array has \(elements.count) requests, more than \(maximumRequests): send several arrays")
    }
    var requests: [TaskRequest] = []
    requests.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      reader.index = index
      do { requests.append(try reader.request(element)) } catch { throw error.at(index) }
    }
    return (requests, true)
  }

  static func parse(_ bytes: [UInt8], opaque: [String] = []) throws(RequestRefusal) -> JSONNode {
    do {
      return try JSONReader.read(bytes, limits: JSONLimits(opaqueMembers: opaque))
    } catch {
      throw RequestRefusal(error.isLimit ? .tooBig : .invalid, "the body is not JSON that can be read: \(error)")
    }
  }

  /// The fields of an object's members. Throws if a member is unknown or two exclude each other.
  ///
  /// - Parameter known: The fields that the object may have; nil for all.
  static func fields(of members: [JSONMember], among known: [RequestField]? = nil) throws(RequestRefusal) -> [RequestField] {
    var fields: [RequestField] = []
    fields.reserveCapacity(members.count)
    var isEveryEvent = true
    for member in members {
      guard let field = RequestField(rawValue: member.name), known?.contains(field) != false else {
        throw unknown(member.name, among: (known ?? RequestField.allCases).map(\.rawValue))
      }
      if field == .everyEvent, member.node.bool == false { isEveryEvent = false }
      fields.append(field)
    }
    // `false` is the same as absent.
    let said = isEveryEvent ? fields : fields.filter { $0 != .everyEvent }
    if let (field, sentence) = RequestField.misfit(among: said, name: \.rawValue) {
      throw RequestRefusal(.invalid, sentence, field: field)
    }
    return fields
  }

  /// - Parameter parent: The path of the object with the member.
  static func unknown(_ name: String, of parent: String = "", among known: [String]) -> RequestRefusal {
    RequestRefusal(
      .invalid, "\(parent)\(name): there is no such member\(NearestName.hint(for: name, among: known))", field: parent + name)
  }

  private mutating func request(_ node: JSONNode) throws(RequestRefusal) -> TaskRequest {
    guard case .object(let members) = node.value else { throw RequestRefusal(.invalid, "a request is an object, this is \(node.kind)") }
    let checked = try identifier(of: node)
    known = checked
    var request = TaskRequest(identifier: checked)
    request.traceparent = traceparent
    let given = try Self.fields(of: members)
    for (field, member) in zip(given, members) { try read(field, member.node, of: node, into: &request) }
    if request.uniqueKey != nil, request.onConflict == .none {
      guard !given.contains(.onConflict) else {
        throw RequestField.onConflict.refusal("none with a unique_key: choose keep, replace, update or append, or leave the key out")
      }
      request.onConflict = .keep
    }
    try request.check()
    return request
  }

  private func identifier(of node: JSONNode) throws(RequestRefusal) -> TaskIdentifier {
    guard let identifier = node[.identifier] else {
      if let expected { return expected }
      throw RequestField.identifier.refusal("is missing: say whose handler is to run")
    }
    if let known, known.rawValue == identifier.string { return known }
    let named = try taskIdentifier(identifier)
    if let expected, named != expected { throw RequestField.identifier.refusal("must be \(expected) here: leave it out") }
    return named
  }

  /// If both the header and the member are there, they must agree.
  private static func apply(_ header: String, to request: inout TaskRequest) throws(RequestRefusal) {
    try RequestField.idempotencyKey.check(key: header)
    guard request.idempotencyKey == nil || request.idempotencyKey == header else {
      throw RequestField.idempotencyKey.refusal("is not what the header Idempotency-Key says: send one of them")
    }
    request.idempotencyKey = header
  }
}

extension JSONNode {
  subscript(field: RequestField) -> JSONNode? { self[field.rawValue] }
}
