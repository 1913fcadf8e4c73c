public import TaskModel

/// The result of a check.
public struct CheckReport: Sendable {
  /// The plugin's file, an absolute path where it could be resolved.
  public var file: String
  /// The seed of everything random in it.
  public var seed: UInt64
  /// The plugin's registrations; empty if it did not launch.
  public var registrations: [HandlerRegistration]
  /// The cases, in the order of ``CheckCase``.
  public var results: [CheckResult]
  /// How long it took, on the monotonic clock.
  public var duration: Duration

  /// Whether no case failed.
  public var hasPassed: Bool { !results.contains { $0.verdict == .failed } }

  /// The number of cases with a verdict.
  public func count(_ verdict: CheckResult.Verdict) -> Int { results.reduce(0) { $0 + ($1.verdict == verdict ? 1 : 0) } }

  /// The number of findings of a severity.
  public func findings(_ severity: CheckFinding.Severity) -> Int {
    results.reduce(0) { $0 + $1.findings.reduce(0) { $0 + ($1.severity == severity ? 1 : 0) } }
  }
}

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
