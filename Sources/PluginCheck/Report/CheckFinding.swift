/// A finding of a case that the author should know.
public struct CheckFinding: Sendable, Hashable {
  /// How much it matters.
  public enum Severity: String, Sendable {
    /// A rule of the header is broken: the case has failed.
    case breach
    /// Not forbidden, or not certain; worth a look.
    case warning
    /// It violates the header, but is harmless in a worker process, where the plugin is alone.
    case remark
  }

  /// How much it matters.
  public var severity: Severity
  /// What was seen: a sentence without its full stop.
  public var seen: String
  /// What the header says about it, or what to do: sentences.
  public var rule: String
  /// A stack or other lines that show where it happened; can be empty.
  public var detail: String

  /// Creates a finding.
  public init(_ severity: Severity, seen: String, rule: String, detail: String = "") {
    self.severity = severity
    self.seen = seen
    self.rule = rule
    self.detail = detail
  }
}
