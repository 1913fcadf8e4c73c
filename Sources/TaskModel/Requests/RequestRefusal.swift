/// Why the host refused a request. Nothing was changed.
///
/// The store, the HTTP status and a plugin's status code share this one error; every layer passes it on unchanged.
public struct RequestRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of refusal, which decides the HTTP status, the CLI's exit code and the plugin's status code. The raw value is the text in
  /// JSON.
  public enum Code: String, Sendable, CaseIterable {
    /// The input is malformed.
    case invalid
    /// The client's token does not permit it.
    case forbidden
    /// The identifier is not registered.
    case unknownIdentifier = "refused"
    /// The request, run or plugin does not exist.
    case notFound = "not_found"
    /// The state does not allow it.
    case conflict
    /// A size limit is exceeded.
    case tooBig = "too_big"
    /// A quota or cap is reached.
    case limit
    /// This version does not offer it.
    case unsupported
    /// The store cannot be written, or the host is draining.
    case unavailable
    /// A defect in the host.
    case `internal`
  }

  /// The kind of refusal.
  public var code: Code
  /// What was seen and what to do.
  public var message: String
  /// The refused field, such as "requests[3].priority"; nil for no particular field.
  public var field: String?

  /// The message without what only this request has, such as ids and keys: many refusals with one reason are counted together. Nil: the
  /// message has nothing of that kind.
  public var reason: String?

  /// Whether a run asked that is no longer its request's current run.
  public private(set) var isOfStaleRun = false

  /// Creates a refusal.
  public init(_ code: Code, _ message: String, field: String? = nil, reason: String? = nil) {
    self.code = code
    self.message = message
    self.field = field
    self.reason = reason
  }

  /// Creates a refusal of a field of a request.
  public init(_ code: Code, _ message: String, field: RequestField) { self.init(code, message, field: field.rawValue) }

  /// The same refusal for the request at that position in a submission of several.
  public func at(_ index: Int) -> RequestRefusal {
    let namesField = field.map(message.hasPrefix) == true
    return RequestRefusal(
      code, "[\(index)]\(namesField ? "." : ": ")\(message)", field: "[\(index)]" + (field.map { ".\($0)" } ?? ""))
  }

  /// Creates the refusal for callers whose change could not be committed.
  public init(_ error: StoreError) {
    switch error {
    case .fenced:
      self.init(.conflict, error.description)
      isOfStaleRun = true
    case .limit: self.init(.limit, error.description)
    case .damagedValue: self.init(.conflict, error.description, reason: "a value of the store is damaged")
    default: self.init(.unavailable, error.description)
    }
  }

  /// The message.
  public var description: String { message }
}

extension RequestRefusal {
  /// A plugin has `count` idempotency keys on record, which is too many.
  package static func tooManyKeys(of plugin: TaskIdentifier, _ count: Int) -> RequestRefusal {
    RequestRefusal(
      .limit,
      "\(plugin) has \(count) idempotency keys on record, the most of a plugin; each stays as long as its request and the history: "
        + "submit with unique_key and on_conflict instead",
      field: .idempotencyKey)
  }

  /// `count` unique keys of an identifier are held for a while, which is too many for a plugin that submits.
  package static func tooManyWindows(of identifier: TaskIdentifier, _ count: Int) -> RequestRefusal {
    RequestRefusal(
      .limit,
      "\(count) unique keys of \(identifier) are held for a unique_window, the most while a plugin submits: use shorter windows, or fewer keys",
      field: .uniqueWindow)
  }
}
