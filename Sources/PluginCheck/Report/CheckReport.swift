public import TaskModel

/// The result of a check.
public struct CheckReport: Sendable {
  /// The path of the plugin's file, absolute if it could be resolved.
  public var file: String
  /// The seed of all random choices.
  public var seed: UInt64
  /// The plugin's registrations; empty if it did not launch.
  public var registrations: [HandlerRegistration]
  /// The cases, in the order of ``CheckCase``.
  public var results: [CheckResult]
  /// How long the check took, on the monotonic clock.
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
    /// The case was not tried.
    case skipped
  }

  /// The case.
  public var tried: CheckCase
  /// The handler's identifier; nil if the plugin has only one, or the case runs none.
  public var identifier: TaskIdentifier?
  /// The verdict.
  public var verdict: Verdict
  /// One line about what was seen, or why the case was not tried; can be empty if it failed.
  public var seen: String
  /// The findings, in order.
  public var findings: [CheckFinding]
  /// How long the case took, on the monotonic clock.
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
