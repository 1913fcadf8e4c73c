import HostThreads
import TaskHostClient
import TaskModel

/// The progress of the run that a command follows, on the terminal's last line. It writes nothing if standard error is not a terminal.
struct ProgressLine {
  private var bar = ProgressBar()
  private var drawn = ""

  /// A new run begins, with this text until it reports progress.
  mutating func begin(_ label: String) {
    bar = ProgressBar(label: label)
    draw()
  }

  /// Shows the run's progress.
  mutating func show(_ progress: ProgressAnswer) {
    bar.take(progress, at: Self.seconds)
    draw()
  }

  /// Shows what the run has done.
  mutating func show(_ work: WorkAnswer) {
    bar.take(work)
    draw()
  }

  /// Removes the line, before another one is written.
  mutating func clear() {
    if !drawn.isEmpty { Terminal.progress("") }
    drawn = ""
  }

  /// Draws the line again, after another one was written.
  mutating func draw() {
    guard Terminal.errorIsTerminal else { return }
    let line = bar.line(columns: Terminal.columns, at: Self.seconds)
    if line != drawn { Terminal.progress(line) }
    drawn = line
  }

  private static var seconds: Double { Double(SystemClock.now.nanoseconds) / 1e9 }
}
