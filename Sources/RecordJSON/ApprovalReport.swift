public import StrictText
public import TaskModel

/// What was approved, and what became of it.
public struct ApprovalReport: Sendable, Hashable {
  /// What was approved, as it was before.
  public let approval: PendingApproval
  /// Whether the plugin has what was approved.
  public let isInForce: Bool
  /// Why it has not, a line each; empty if nobody asked for that.
  public let problems: [String]

  /// Creates it from its parts.
  public init(_ approval: PendingApproval, isInForce: Bool, problems: [String] = []) {
    (self.approval, self.isInForce, self.problems) = (approval, isInForce, problems)
  }
}

/// Whose approval was revoked, and what became of it.
public struct RevocationReport: Sendable, Hashable {
  /// The plugin's first identifier.
  public let identifier: TaskIdentifier
  /// What it may not do any more, a sentence without a full stop each.
  public let lost: [String]
  /// Whether the plugin is not loaded any more.
  public let isInForce: Bool
  /// Why it still is, a line each.
  public let problems: [String]

  /// Creates it from its parts.
  public init(_ identifier: TaskIdentifier, lost: [String], isInForce: Bool, problems: [String] = []) {
    (self.identifier, self.lost, self.isInForce, self.problems) = (identifier, lost, isInForce, problems)
  }
}

extension JSONWriter {
  /// Whose approval was revoked, and what became of it.
  public mutating func revocationReport(_ report: RevocationReport) {
    member("identifier", report.identifier.rawValue)
    member("lost", report.lost)
    member("in_force", report.isInForce)
    member("problems", report.problems)
  }

  /// What was approved, and what became of it.
  public mutating func approvalReport(_ report: ApprovalReport) {
    approval(report.approval)
    member("in_force", report.isInForce)
    member("problems", report.problems)
  }
}
