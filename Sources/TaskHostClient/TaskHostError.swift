/// Why a host did not do what it was asked to do: what failed, why, and what to do.
public struct TaskHostError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of failure it is, for programs.
  public enum Kind: Sendable, Hashable {
    /// No host answers there, or it went away. What it acknowledged is stored: a request's id stays valid.
    case unreachable
    /// The host refused.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - code: A word such as `not_found`, `invalid` or `limit`; nil if the host gave none.
    ///   - field: The member or parameter that is wrong; nil if it is none in particular.
    case refused(status: Int, code: String?, field: String?)
    /// The answer is not what a host of this version says.
    case unexpected
    /// What the caller gave cannot be used: nothing was sent.
    case invalid
    /// The time of the call is over. The request goes on.
    case timedOut
    /// The task that waited was cancelled. The request goes on.
    case interrupted
  }

  /// The kind of failure.
  public let kind: Kind
  /// What failed: a path, an address; nil if ``why`` says it.
  public let what: String?
  /// What was seen, a clause.
  public let why: String
  /// What to do; nil if ``why`` says it.
  public let remedy: String?

  package init(_ kind: Kind, _ what: String?, _ why: String, remedy: String? = nil) {
    (self.kind, self.what, self.why, self.remedy) = (kind, what, why, remedy)
  }

  /// What failed, why, and in parentheses what to do.
  public var description: String { (what.map { "\($0): " } ?? "") + why + (remedy.map { " (\($0))" } ?? "") }
}
