import StrictText
import TaskHostClient
import TaskModel

/// The work and the progress of runs in words. Texts of plugins in them are escaped.
enum WorkText {
  /// `9 of 10 items, 1 failed, 2 KiB in, 3 KiB out`, without what is zero; `nothing` if all is.
  static func words(_ work: WorkAnswer) -> String {
    WorkFormat.words(
      attempted: work.itemsAttempted.value, completed: work.itemsCompleted.value, failed: work.itemsFailed.value,
      bytesIn: work.bytesIn.value, bytesOut: work.bytesOut.value)
  }

  /// `3 of 10 files, 30 %: copying report.pdf`.
  static func words(_ progress: ProgressAnswer) -> String {
    let percent = percent(progress).map { ", \($0) %" } ?? ""
    return amount(progress) + percent + (progress.message.map { ": \($0.escapingControlCharacters)" } ?? "")
  }

  /// `3 of 10 files`, `3 files` without a total, `1.5 MiB of 3 MiB` of bytes.
  static func amount(_ progress: ProgressAnswer) -> String {
    WorkFormat.amount(
      completed: progress.completed.value, total: progress.total.value, unit: progress.unit?.escapingControlCharacters)
  }

  /// 0 to 100; nil without a total.
  static func percent(_ progress: ProgressAnswer) -> Int? {
    WorkFormat.percent(completed: progress.completed.value, total: progress.total.value)
  }
}
