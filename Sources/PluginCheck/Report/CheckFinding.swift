/// A finding of a case that the plugin's author should know.
public struct CheckFinding: Sendable, Hashable {
  /// How much it matters.
  public enum Severity: String, Sendable {
    /// A rule of the header is broken, so the case has failed.
    case breach
    /// Not forbidden, or not certain; worth a look.
    case warning
    /// Forbidden by the header, but harmless in a worker process, where the plugin is alone.
    case remark
  }

  /// How much it matters.
  public var severity: Severity
  /// What was seen: a sentence without a full stop.
  public var seen: String
  /// What the header says about it, or what to do, in full sentences.
  public var rule: String
  /// A stack or other lines that show where it happened; may be empty.
  public var detail: String

  /// Creates a finding.
  public init(_ severity: Severity, seen: String, rule: String, detail: String = "") {
    self.severity = severity
    self.seen = seen
    self.rule = rule
    self.detail = detail
  }
}
