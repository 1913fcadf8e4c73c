public import TaskModel

/// Why the scheduler did not do what it was asked. Nothing was changed.
public struct RequestRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// What sort of refusal.
  public enum Code: Sendable, Hashable {
    /// The request is malformed.
    case invalid
    /// Nobody registered the identifier.
    case unknownIdentifier
    /// No such request.
    case notFound
    /// Its state does not allow it.
    case conflict
    /// A size limit.
    case tooBig
    /// A quota or cap.
    case limit
    /// Not offered by this version.
    case unsupported
    /// The store cannot be written, or the host is draining.
    case unavailable
  }

  /// What sort of refusal.
  public var code: Code
  /// What was seen and what to do.
  public var message: String
  /// The field it is about; nil: none in particular.
  public var field: String?

  /// A refusal as given.
  public init(_ code: Code, _ message: String, field: String? = nil) {
    self.code = code
    self.message = message
    self.field = field
  }

  /// What a failed commit means to who waits for it.
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
