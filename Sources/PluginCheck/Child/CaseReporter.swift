import Glibc
import HostThreads

/// Reports to the checker what a case sees. Usable from any thread.
final class CaseReporter: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  private let descriptor: Int32
  private let monitor = Monitor()
  private var told: Set<String> = []

  /// - Parameter descriptor: The pipe to write to; the checker reads its other end.
  init(descriptor: Int32) { self.descriptor = descriptor }

  func at(_ text: String) { tell(.at(text)) }

  /// Reports a broken rule, each one only once.
  func breach(_ seen: String, _ rule: String, detail: String = "") { find(CheckFinding(.breach, seen: seen, rule: rule, detail: detail)) }

  /// Reports something worth a look, each thing only once.
  func warn(_ seen: String, _ rule: String, detail: String = "") { find(CheckFinding(.warning, seen: seen, rule: rule, detail: detail)) }

  /// Reports something that the header forbids but that is harmless in a worker, each thing only once.
  func remark(_ seen: String, _ rule: String, detail: String = "") { find(CheckFinding(.remark, seen: seen, rule: rule, detail: detail)) }

  private func find(_ finding: CheckFinding) {
    let isNew = monitor.locked { told.count < 12 && told.insert(finding.seen).inserted }
    if isNew { tell(.finding(finding)) }
  }

  /// Writes a report completely. Ends the process if the plugin has closed the descriptor; if the checker is gone, it ends anyway.
  func tell(_ news: CaseNews) {
    let bytes = news.encode()
    monitor.locked {
      do throws(ErrorNumber) { try WholeTransfer.write(bytes, to: descriptor) } catch {
        if error.code == EBADF { CaseProcess.give(up: "the plugin closed a descriptor that is not its own") }
      }
    }
  }
}
