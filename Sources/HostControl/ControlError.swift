/// Why the host did not do what it was asked; nothing was changed.
public struct ControlError: Error, Sendable, Hashable {
  /// What sort of refusal; decides the HTTP status and the CLI's exit code.
  public enum Code: String, Sendable, CaseIterable {
    /// The input is malformed (400).
    case invalid
    /// No such request, run or plugin (404).
    case notFound = "not_found"
    /// The state does not allow it (409).
    case conflict
    /// Too big (413).
    case tooBig = "too_big"
    /// Well formed, but the host refuses it: unknown identifier, not permitted (422).
    case refused
    /// A quota or cap is reached (429).
    case limit
    /// Not offered by this version (501).
    case unsupported
    /// The store cannot be written, or the host is draining (503).
    case unavailable
    /// A defect in the host (500).
    case `internal`
  }

  /// What sort of refusal.
  public var code: Code
  /// What was seen and what to do.
  public var message: String
  /// The field it is about: "requests[3].priority"; nil: none in particular.
  public var field: String?

  /// An error as given.
  public init(_ code: Code, _ message: String, field: String? = nil) {
    self.code = code
    self.message = message
    self.field = field
  }
}
