import StrictText
import TaskModel

/// The work and the progress of runs in words. Texts of plugins in them are escaped.
enum WorkText {
  /// `9 of 10 items, 1 failed, 2 KiB in, 3 KiB out`, without what is zero; `nothing` if all is.
  static func words(_ work: WorkAnswer) -> String {
    let (attempted, completed, failed) = (work.itemsAttempted.value, work.itemsCompleted.value, work.itemsFailed.value)
    var parts: [String] = []
    if attempted > 0 {
      let items = attempted == 1 ? "item" : "items"
      parts.append(completed == attempted ? "\(completed) \(items)" : "\(completed) of \(attempted) \(items)")
    }
    if failed > 0 { parts.append("\(failed) failed") }
    if work.bytesIn.value > 0 { parts.append("\(ByteCountFormat.words(work.bytesIn.value)) in") }
    if work.bytesOut.value > 0 { parts.append("\(ByteCountFormat.words(work.bytesOut.value)) out") }
    return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
  }

  /// `3 of 10 files, 30 %: copying report.pdf`.
  static func words(_ progress: ProgressAnswer) -> String {
    let percent = percent(progress).map { ", \($0) %" } ?? ""
    return amount(progress) + percent + (progress.message.map { ": \($0.escapingControlCharacters)" } ?? "")
  }

  /// `3 of 10 files`, `3 files` without a total, `1.5 MiB of 3 MiB` of bytes.
  static func amount(_ progress: ProgressAnswer) -> String {
    let isBytes = progress.unit == "bytes"
    func number(_ count: ProgressAnswer.Count) -> String { isBytes ? ByteCountFormat.words(count.value) : "\(count.value)" }
    let unit = isBytes ? "" : progress.unit.map { " \($0.escapingControlCharacters)" } ?? ""
    if progress.total.value == 0 { return number(progress.completed) + unit }
    return "\(number(progress.completed)) of \(number(progress.total))\(unit)"
  }

  /// 0 to 100; nil without a total.
  static func percent(_ progress: ProgressAnswer) -> Int? {
    guard progress.total.value > 0 else { return nil }
    return Int(min(100, Double(progress.completed.value) / Double(progress.total.value) * 100))
  }
}
