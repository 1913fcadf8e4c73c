import TaskHostSDK
import TaskModel

extension RunReport: CustomStringConvertible {
  /// What happened, one line for each fact, for a failed assertion to print.
  public var description: String {
    var lines = ["\(identifier), attempt \(attempt): \(summary)"]
    if let message { lines.append("  message: \(message)") }
    if let output { lines.append("  output: \(output.shown)") }
    if let last = progress.last { lines.append("  progress: \(last) (\(progress.count) reports)") }
    if work != WorkCounts() {
      lines.append(
        "  work: \(work.completed) of \(work.attempted) items, \(work.failed) failed, \(work.bytesIn) bytes in, \(work.bytesOut) out")
    }
    if let last = checkpoints.last { lines.append("  checkpoint: \(last.shown) (\(checkpoints.count) written)") }
    for submission in submissions { lines.append("  submitted: \(submission)") }
    if !cancellations.isEmpty { lines.append("  cancelled: \(cancellations.joined(separator: ", "))") }
    for event in events { lines.append("  raised: \(event)") }
    for assertion in assertions { lines.append("  assertion: \(assertion)") }
    if !missedInterruptions.isEmpty { lines.append("  never came: \(missedInterruptions.map(\.description).joined(separator: ", "))") }
    let shownLines = 20
    if log.count > shownLines { lines.append("  log: \(log.count - shownLines) lines, then") }
    lines += log.suffix(shownLines).map { "  log: \($0)" }
    return lines.joined(separator: "\n")
  }

  private var summary: String {
    var text: String
    switch ending {
    case nil: text = "still running"
    case .forced: text = "stopped by force"
    case .killed: text = "killed"
    case .returned(.success): text = "succeeded"
    case .returned(.noop): text = "had nothing to do"
    case .returned(.failure): text = "failed"
    case .returned(.snooze(let delay)): text = "snoozes" + (delay.map { " for \($0)" } ?? "")
    case .returned(.retry(let delay)): text = "retries" + (delay.map { " after \($0)" } ?? "")
    }
    if let duration { text += ", \(duration) after it began" }
    if let expiredAfter { text += ", expired (\(stopReason)) at \(expiredAfter)" }
    return text
  }
}

extension [UInt8] {
  /// The bytes as text if they are text, cut after 200 characters.
  var shown: String {
    guard let text = String(validating: self, as: UTF8.self) else { return "\(count) bytes" }
    return text.count <= 200
      ? text.escapingControlCharacters : "\(text.prefix(200).description.escapingControlCharacters)… (\(count) bytes)"
  }
}
