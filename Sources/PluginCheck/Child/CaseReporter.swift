import Glibc
import HostThreads

/// Tells the checker what a case sees, from any thread.
final class CaseReporter: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  private let descriptor: Int32
  private let monitor = Monitor()
  private var told: Set<String> = []

  /// - Parameter descriptor: Where to write; the checker reads its other end.
  init(descriptor: Int32) { self.descriptor = descriptor }

  /// What the case does from here on.
  func at(_ text: String) { tell(.at(text)) }

  /// A broken rule. The same one is told once.
  func breach(_ seen: String, _ rule: String, detail: String = "") { find(CheckFinding(.breach, seen: seen, rule: rule, detail: detail)) }

  /// Something worth a look. The same is told once.
  func warn(_ seen: String, _ rule: String, detail: String = "") { find(CheckFinding(.warning, seen: seen, rule: rule, detail: detail)) }

  /// Something that the header forbids and that does no harm in a worker. The same is told once.
  func remark(_ seen: String, _ rule: String, detail: String = "") { find(CheckFinding(.remark, seen: seen, rule: rule, detail: detail)) }

  private func find(_ finding: CheckFinding) {
    let isNew = monitor.locked { told.count < 12 && told.insert(finding.seen).inserted }
    if isNew { tell(.finding(finding)) }
  }

  /// Writes it whole. A checker that is gone takes this process with it.
  func tell(_ news: CaseNews) {
    let bytes = news.encode()
    monitor.locked {
      do throws(ErrorNumber) { try WholeTransfer.write(bytes, to: descriptor) } catch {
        if error.code == EBADF { CaseProcess.give(up: "the plugin closed a descriptor that is not its own") }
      }
    }
  }
}
