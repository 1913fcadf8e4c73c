public import TaskModel

/// The result of one case.
public struct CheckResult: Sendable {
  /// The verdict.
  public enum Verdict: String, Sendable {
    /// No rule was broken.
    case passed
    /// A rule was broken.
    case failed
    /// Not tried.
    case skipped
  }

  /// What was tried.
  public var tried: CheckCase
  /// The handler's identifier; nil if the plugin has only one, or the case runs none.
  public var identifier: TaskIdentifier?
  /// The verdict.
  public var verdict: Verdict
  /// What was seen, or why it was not tried: one line.
  public var seen: String
  /// The findings, in order.
  public var findings: [CheckFinding]
  /// How long it took, on the monotonic clock.
  public var duration: Duration

  init(
    _ tried: CheckCase, of identifier: TaskIdentifier? = nil, _ verdict: Verdict, _ seen: String, findings: [CheckFinding] = [],
    duration: Duration = .zero
  ) {
    self.tried = tried
    self.identifier = identifier
    self.verdict = verdict
    self.seen = seen
    self.findings = findings
    self.duration = duration
  }
}
