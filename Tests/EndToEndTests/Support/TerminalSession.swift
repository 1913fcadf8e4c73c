import Foundation
import Glibc
import TestSupport

/// A program at a terminal: a pane of a tmux server of its own, whose control mode tells when something was written.
final class TerminalSession: Sendable {
  private let server: String
  private let control: LineProgram

  /// Starts a shell line in a terminal of that size.
  init(_ line: String, columns: Int = 80, rows: Int = 24) throws {
    server = "taskhost-\(UUID().uuidString.prefix(8))"
    // The line waits for a key, so that it begins after the control client is there; and the terminal stays when it has ended.
    let whole = "read -r _; \(line); echo \"ended $?\"; cat"
    let tmux = ["/usr/bin/tmux", "-L", server, "-f", "/dev/null"]
    _ = try Program.finish(tmux + ["new-session", "-d", "-s", "t", "-x", "\(columns)", "-y", "\(rows)", "/bin/sh", "-c", whole])
    control = try LineProgram(tmux + ["-C", "attach", "-t", "t"])
    try control.say("set-option -g window-size manual")
    try control.say("resize-window -t t -x \(columns) -y \(rows)")
    try send("Enter")
  }

  deinit { _ = try? Program.finish(["/usr/bin/tmux", "-L", server, "kill-server"]) }

  /// Sends keys, by tmux' names.
  func send(_ keys: String...) throws { try control.say("send-keys -t t \(keys.map { "'\($0)'" }.joined(separator: " "))") }

  func resize(columns: Int, rows: Int) throws { try control.say("resize-window -t t -x \(columns) -y \(rows)") }

  /// The screen, as soon as it is as `isWanted` wants it.
  @discardableResult func screen(within limit: Duration = .seconds(30), line: Int = #line, until isWanted: ([String]) -> Bool) throws
    -> [String]
  {
    var last: [String] = []
    let deadline = ContinuousClock.now + limit
    while true {
      last = try capture(until: deadline)
      if isWanted(last) { return last }
      do { try control.line(within: deadline - .now) { $0.hasPrefix("%output") } } catch {
        throw TestFailure("line \(line): the screen stays:\n\(last.joined(separator: "\n"))")
      }
    }
  }

  private func capture(until deadline: ContinuousClock.Instant) throws -> [String] {
    let mark = "mark \(UUID().uuidString)"
    try control.say("display-message -p '\(mark)'")
    try control.say("capture-pane -p -t t")
    try control.line(within: deadline - .now) { $0 == mark }
    try control.line(within: deadline - .now) { $0.hasPrefix("%begin") }
    var lines: [String] = []
    while true {
      let line = try control.line(within: deadline - .now)
      if line.hasPrefix("%end") { return lines }
      lines.append(line)
    }
  }
}
