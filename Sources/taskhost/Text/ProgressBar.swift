import StrictText
import TaskHostClient
import TaskModel

/// The progress of one run as one line of a terminal: `running [====>    ] 42 %, 420 of 1000 files, about 3 min left: copying a.txt`.
///
/// A value that reads no clock and writes nothing.
struct ProgressBar {
  /// An increase of the progress.
  private struct Step {
    let seconds: Double
    let completed: Double
  }

  private var progress: ProgressAnswer?
  private var work: WorkAnswer?
  /// The first step, one about halfway, and the last: two rates, which must agree before they foretell anything.
  private var steps: [Step] = []
  private let label: String

  /// How long progress must have been seen before it foretells the rest.
  static let leastSeconds = 5.0
  /// The widest bar, in columns.
  static let widestBar = 30

  /// - Parameter label: The text before the bar.
  init(label: String = "running") { self.label = label }

  /// Takes the next report.
  ///
  /// - Parameter seconds: Now, on any clock that only goes forward.
  mutating func take(_ new: ProgressAnswer, at seconds: Double) {
    let completed = Double(new.completed.value)
    // Another total is another piece of work.
    if new.total != progress?.total || completed < steps.last?.completed ?? 0 { steps = [] }
    progress = new
    if steps.isEmpty || completed > steps[steps.count - 1].completed { steps.append(Step(seconds: seconds, completed: completed)) }
    // Every other one is enough: the first and the last stay.
    if steps.count > 128 { steps = steps.indices.filter { $0.isMultiple(of: 2) || $0 == steps.count - 1 }.map { steps[$0] } }
  }

  /// Takes the next sums of the run's work. Without progress, the line shows them.
  mutating func take(_ new: WorkAnswer) { work = new }

  /// The line, at most `columns` wide. A character outside of ASCII counts as two columns, so that the line never wraps.
  func line(columns: Int, at seconds: Double) -> String {
    guard let progress else { return Self.cut(label + (work.map { ": \(WorkText.words($0))" } ?? ""), to: columns) }
    let left = secondsLeft(at: seconds).map { ", about \(DurationFormat.words(milliseconds: Int64($0.rounded()) * 1000)) left" } ?? ""
    let message = progress.message.map { ": \($0.escapingControlCharacters)" } ?? ""
    let amount = WorkText.amount(progress)
    guard let percent = WorkText.percent(progress) else { return Self.cut("\(label): \(amount)\(message)", to: columns) }
    let text = " \(percent) %, \(amount)\(left)"
    let room = min(Self.widestBar, columns - Self.width(of: label) - Self.width(of: text) - 4)
    let bar = room >= 5 ? " [\(Self.bar(percent, room))]" : ":"
    return Self.cut(label + bar + text + message, to: columns)
  }

  /// Seconds until the total at the present rate. Nil unless the rate is known well: progress has been seen for a while, its first and its
  /// second half went about equally fast, and it has not paused for long.
  private func secondsLeft(at seconds: Double) -> Double? {
    guard let progress, progress.total.value > 0, let first = steps.first, let last = steps.last, steps.count >= 4 else { return nil }
    let middle = steps[steps.count / 2]
    let (before, after) = (middle.seconds - first.seconds, last.seconds - middle.seconds)
    let rate = (last.completed - first.completed) / (last.seconds - first.seconds)
    guard last.seconds - first.seconds >= Self.leastSeconds, before > 0, after > 0, rate > 0 else { return nil }
    let rates = [(middle.completed - first.completed) / before, (last.completed - middle.completed) / after]
    guard rates.allSatisfy({ $0 > rate / 1.5 && $0 < rate * 1.5 }) else { return nil }
    let pause = seconds - last.seconds
    let left = (Double(progress.total.value) - last.completed) / rate - pause
    // After a pause, or for days, nobody knows.
    guard pause < max(2, (last.seconds - first.seconds) / 4), left >= 1, left < 7 * 86_400 else { return nil }
    return left
  }

  /// `==>   `, `room` columns wide.
  static func bar(_ percent: Int, _ room: Int) -> String {
    let done = room * percent / 100
    let head = done < room ? ">" : ""
    return String(repeating: "=", count: done) + head + String(repeating: " ", count: room - done - head.count)
  }

  private static func width(of text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 1 : 2) } }

  private static func cut(_ text: String, to columns: Int) -> String {
    guard width(of: text) > columns else { return text }
    var (kept, used) = ("", 0)
    for character in text {
      used += width(of: String(character))
      if used > columns - 3 { break }
      kept.append(character)
    }
    return columns < 3 ? "" : kept + "..."
  }
}
