import HostThreads
import Logging
public import RecordJSON
public import TaskModel

extension Host {
  /// Approves what a plugin waits for, and puts it in force by a reload, which reads everything anew.
  ///
  /// - Parameters:
  ///   - fingerprint: What is approved, as ``TaskModel/PendingApproval`` has it. Refused with `conflict` if the plugin waits for something else by now.
  ///   - reloads: Whether to put it in force at once. If that fails, the approval stays.
  ///   - who: Who approves, in words for people.
  /// - Throws: `notFound` if the plugin is unknown, `conflict` if it does not wait, `unavailable` if the approval cannot be kept.
  public func approve(
    _ identifier: TaskIdentifier, _ fingerprint: String, reloads: Bool, by who: String
  ) async throws(RequestRefusal) -> ApprovalReport {
    guard phase == .launched, !isAskedToEnd else { throw RequestRefusal(.unavailable, "the host is draining: approve when it runs again") }
    let held = try held(identifier, fingerprint)
    let approval = Approval(identifier: held.pending.identifier, permissions: held.permissions, time: parts.clock.wallTime, by: who)
    try await onThread {
      do throws(ApprovalBookError) { return .success(try self.parts.approvals.record(approval)) } catch {
        return .failure(RequestRefusal(.unavailable, "\(error)"))
      }
    }
    log.notice("approved \(approval.identifier): \(held.pending.gained.joined(separator: "; "))", metadata: ["by": "\(who)"])
    guard reloads else { return ApprovalReport(held.pending, isInForce: false) }
    await reloadTurn.wait()
    do throws(RequestRefusal) {
      let report = try await reloadInTurn(isDry: false, by: who)
      let left = report.held.first { $0.identifier == held.pending.identifier }
      guard let left else { return ApprovalReport(held.pending, isInForce: true) }
      return ApprovalReport(
        held.pending, isInForce: false, problems: ["it asks for more by now: \(left.gained.joined(separator: "; "))"])
    } catch {
      return ApprovalReport(held.pending, isInForce: false, problems: error.message.split(separator: "\n").map(String.init))
    }
  }

  /// Takes back what was approved for a plugin, and puts that in force by a reload: the plugin is not loaded any more, and its requests wait until
  /// somebody approves it again.
  ///
  /// - Parameter who: Who revokes, in words for people.
  /// - Throws: `notFound` if neither a plugin nor an approval has that identifier, `conflict` if there is nothing to revoke, `unavailable` if it cannot
  ///   be kept.
  public func revoke(_ identifier: TaskIdentifier, by who: String) async throws(RequestRefusal) -> RevocationReport {
    guard phase == .launched, !isAskedToEnd else { throw RequestRefusal(.unavailable, "the host is draining: revoke when it runs again") }
    guard rules.current.configuration.approveEntitlements else {
      throw RequestRefusal(.conflict, "approve_entitlements is not set, so that no plugin needs an approval: remove the plugin, or set it")
    }
    let plugin = registry.registered.first { $0.candidate.command == nil && $0.identifiers.contains(identifier) }
    let first = plugin?.identifiers.first ?? identifier
    let present = plugin.map { PluginPermissions(of: $0.identifiers, in: rules.current.configuration) }
    let time = parts.clock.wallTime
    let lost = try await onThread { () -> Result<[String], RequestRefusal> in
      do throws(ApprovalBookError) {
        let approval = try self.parts.approvals.read()[first]
        guard let permissions = present ?? approval?.permissions else {
          return .failure(RequestRefusal(.notFound, "no plugin has registered \(identifier), and nothing was approved for it"))
        }
        guard approval?.isRevoked != true || plugin != nil else {
          return .failure(RequestRefusal(.conflict, "the approval of \(first) is revoked already"))
        }
        try self.parts.approvals.record(
          Approval(identifier: first, permissions: approval?.permissions ?? permissions, time: time, by: who, isRevoked: true))
        return .success(permissions.sentences)
      } catch { return .failure(RequestRefusal(.unavailable, "\(error)")) }
    }
    log.notice("revoked the approval of \(first)", metadata: ["by": "\(who)"])
    await reloadTurn.wait()
    do throws(RequestRefusal) {
      _ = try await reloadInTurn(isDry: false, by: who)
      return RevocationReport(first, lost: lost, isInForce: true)
    } catch {
      return RevocationReport(first, lost: lost, isInForce: false, problems: error.message.split(separator: "\n").map(String.init))
    }
  }

  private func held(_ identifier: TaskIdentifier, _ fingerprint: String) throws(RequestRefusal) -> HeldPlugin {
    let registry = registry
    let waiting = registry.held.filter { $0.pending.identifier == identifier || $0.identifiers.contains(identifier) }
    guard !waiting.isEmpty else {
      guard registry.registered.contains(where: { $0.identifiers.contains(identifier) }) else {
        throw RequestRefusal(.notFound, "no plugin has registered \(identifier), and none waits for approval under this name")
      }
      throw RequestRefusal(.conflict, "\(identifier) does not wait for approval: there is nothing to approve")
    }
    guard let match = waiting.first(where: { $0.pending.fingerprint == fingerprint }) else {
      throw RequestRefusal(
        .conflict, "\(identifier) waits for something else by now, so nothing was approved: look at it again", field: "fingerprint")
    }
    return match
  }
}
