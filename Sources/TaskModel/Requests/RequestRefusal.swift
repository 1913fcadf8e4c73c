/// Why the host did not do what it was asked. Nothing was changed.
///
/// The one error from the store to the HTTP status and a plugin's status code; every layer passes it on unchanged.
public struct RequestRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of refusal; decides the HTTP status, the CLI's exit code and the plugin's status code. The raw value is the text in JSON.
  public enum Code: String, Sendable, CaseIterable {
    /// The input is malformed.
    case invalid
    /// The identifier is not registered.
    case unknownIdentifier = "refused"
    /// No such request, run or plugin.
    case notFound = "not_found"
    /// The state does not allow it.
    case conflict
    /// A size limit.
    case tooBig = "too_big"
    /// A quota or cap.
    case limit
    /// Not offered by this version.
    case unsupported
    /// The store cannot be written, or the host is draining.
    case unavailable
    /// A defect in the host.
    case `internal`
  }

  /// What sort of refusal.
  public var code: Code
  /// What was seen and what to do.
  public var message: String
  /// The field it is about, such as "requests[3].priority"; nil if none in particular.
  public var field: String?

  /// A refusal as given.
  public init(_ code: Code, _ message: String, field: String? = nil) {
    self.code = code
    self.message = message
    self.field = field
  }

  /// A refusal about a field of a request.
  public init(_ code: Code, _ message: String, field: RequestField) { self.init(code, message, field: field.rawValue) }

  /// The same, about the request at that position of several.
  public func at(_ index: Int) -> RequestRefusal {
    let namesField = field.map(message.hasPrefix) == true
    return RequestRefusal(
      code, "[\(index)]\(namesField ? "." : ": ")\(message)", field: "[\(index)]" + (field.map { ".\($0)" } ?? ""))
  }

  /// The refusal for callers whose change could not be committed.
  public init(_ error: StoreError) {
    switch error {
    case .fenced: self.init(.conflict, error.description)
    case .limit: self.init(.limit, error.description)
    default: self.init(.unavailable, error.description)
    }
  }

  /// The message.
  public var description: String { message }
}
