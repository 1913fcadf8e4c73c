internal import CCleanup
internal import Glibc
import StrictText
internal import TaskHostSDK

/// Finds rules that could never remove anything, so that the launch fails instead of every run.
enum RuleFeasibility {
  /// - Parameters:
  ///   - entitlement: The entitlement to a directory; throws if the host does not report it.
  ///   - warn: Called with a sentence for each possible problem.
  /// - Throws: ``SettingsProblems`` naming each of them.
  static func check(
    _ rules: [Rule], entitlement: (String) throws -> DirectoryEntitlement, warn: (String) -> Void
  ) throws {
    let problems = rules.enumerated().compactMap { index, rule in
      problem(rule, entitlement, warn).map { "rules[\(index)] (\(rule.name)): \($0)" }
    }
    guard problems.isEmpty else { throw SettingsProblems(problems) }
  }

  private static func problem(
    _ rule: Rule, _ entitlement: (String) throws -> DirectoryEntitlement, _ warn: (String) -> Void
  ) -> String? {
    do {
      switch try entitlement(rule.directory) {
      case .write: break
      case .read where rule.dryRun: break
      case .read: return "\(rule.directory) may only be read: add it to entitlements.write, or set dry_run = true"
      case .none: return "\(rule.directory) is not entitled: add it to entitlements.write"
      }
    } catch {
      if !rule.dryRun, !rule.removesUnsure, taskhost_cleanup_may_lease() == 0 {
        return "nothing could be removed: this host does not report which files are open, and a worker cannot find out; update taskhost, "
          + "use isolation = \"thread\", or set if_unsure = \"remove\""
      }
    }
    guard !rule.dryRun, let obstacle = obstacle(rule.directory) else { return nil }
    guard rule.recursive else { return obstacle }
    warn("rule \(rule.name): \(obstacle)")
    return nil
  }

  /// Why nothing can be removed from an existing directory; nil if no reason is known.
  private static func obstacle(_ directory: String) -> String? {
    guard let status = try? directory.withCString({ path throws(SystemError) in try FileStatus(directory: AT_FDCWD, name: path) }),
      status.kind == .directory, let handle = try? DirectoryHandle.open(absolute: directory),
      let error = handle.obstacle(toRemovingFileOf: geteuid()), error.code == EACCES || error.code == EPERM
    else { return nil }
    var report = RuleReport(named: directory)
    report.note(error, owner: status.owner)
    return "nothing can be removed from \(directory): \(report.remedyForOtherUsers ?? error.description)"
  }
}
