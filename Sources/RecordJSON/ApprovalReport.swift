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

extension JSONWriter {
  /// What was approved, and what became of it.
  public mutating func approvalReport(_ report: ApprovalReport) {
    approval(report.approval)
    member("in_force", report.isInForce)
    member("problems", report.problems)
  }
}
