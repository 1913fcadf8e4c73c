import HostThreads
import TaskModel

extension HostParts {
  /// Which plugins of a configuration wait for approval; nil if none needs any.
  ///
  /// - Throws: If it cannot be known what was approved.
  func approvalRule(for configuration: HostConfiguration) throws(HostFailure) -> ApprovalRule? {
    do throws(ApprovalBookError) { return try rule(for: configuration) } catch { throw HostFailure(.configuration, "\(error)") }
  }

  /// The same for a launch, which goes on without the approvals: every plugin then waits.
  func approvalRule(atLaunchOf configuration: HostConfiguration, _ problems: inout [Problem]) -> ApprovalRule? {
    do throws(ApprovalBookError) { return try rule(for: configuration) } catch {
      problems.append(
        Problem(
          .approvalNeeded, of: error.path, "no plugin is loaded, because nobody knows what was approved: \(error.path): \(error.observed)",
          remedy: error.remedy, since: clock.wallTime))
      return ApprovalRule(configuration: configuration, approvals: [:])
    }
  }

  private func rule(for configuration: HostConfiguration) throws(ApprovalBookError) -> ApprovalRule? {
    guard configuration.approveEntitlements else { return nil }
    return ApprovalRule(configuration: configuration, approvals: try approvals.read())
  }
}

extension ApprovalRule {
  /// What a running plugin waits for, because the configuration gives it more, or its approval was revoked; nil if it does not wait.
  func held(_ plugin: RegisteredPlugin) -> HeldPlugin? {
    held(plugin.identifiers, named: plugin.candidate.name, file: plugin.candidate.place, isRunning: true)
  }
}

extension HostConfiguration {
  /// The same with the tables of some plugins as another configuration has them.
  func keepingTables(of identifiers: [TaskIdentifier], from other: HostConfiguration) -> HostConfiguration {
    var kept = self
    for identifier in identifiers {
      kept.plugins[identifier.rawValue] = other.plugins[identifier.rawValue]
      kept.written = kept.written.keeping(["plugin", identifier.rawValue], of: other.written)
    }
    return kept
  }
}
