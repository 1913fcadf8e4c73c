/// What a shell command does that differs under the host: found by its text, without running it.
struct CommandHints {
  /// Why the command cannot run as it is; nil if it can.
  let obstacle: String?
  /// Sentences for the operator.
  let notes: [String]

  init(_ command: String, isReboot: Bool) {
    let trimmed = Self.trimmed(command)
    obstacle =
      Self.leavesBackground(trimmed)
      ? "it starts a program in the background and ends; the host ends what a command leaves behind: remove the & at its end"
        + (isReboot ? ", or make it a service" : "")
      : nil
    var notes: [String] = []
    if trimmed.contains("/run/systemd/system") {
      notes.append("it asks whether systemd runs, and may do nothing there: a timer does the same work; see taskhost takeover timers")
    }
    if Self.sleepsRandomly(trimmed) {
      notes.append(
        "it waits for a random time, which counts as run time: jitter beside the schedule spreads starts without a waiting process")
    }
    if trimmed.contains("crontab ") || trimmed.hasSuffix("crontab") {
      notes.append("it calls crontab: what that changes is cron's, not the host's")
    }
    if trimmed.contains("sudo ") || trimmed.hasPrefix("su ") {
      notes.append("it changes its user by itself: `user` would do so without sudo or su")
    }
    self.notes = notes
  }

  /// A command that is nothing but `run-parts FOLDER`, perhaps after a `cd` and a test for anacron: the folder.
  static func runParts(_ command: String) -> String? {
    guard let range = command.firstRange(of: "run-parts ") else { return nil }
    let words = command[range.upperBound...].split { " \t;)}".contains($0) }
    return words.first { $0.hasPrefix("/") }.map(String.init)
  }

  /// Whether it does nothing while anacron is installed, as Debian's lines for the folders do.
  static func yieldsToAnacron(_ command: String) -> Bool {
    let words = command.split { " \t".contains($0) }
    guard words.count > 4, words[0] == "test" || words[0] == "[", words[1] == "-x", words[2] == "/usr/sbin/anacron" else { return false }
    return words[3] == "||" || words[3] == "]" && words[4] == "||"
  }

  private static func trimmed(_ text: String) -> String {
    let bytes = Array(text.utf8)
    let end = bytes.lastIndex { !Bytes.isSpace($0) }.map { $0 + 1 } ?? 0
    return Bytes.shown(bytes[..<end].drop(while: Bytes.isSpace))
  }

  /// Ends in `&` that is neither `&&` nor part of a redirection. A `wait` afterwards would not be the end.
  private static func leavesBackground(_ command: String) -> Bool {
    guard command.hasSuffix("&"), !command.hasSuffix("&&"), !command.hasSuffix(">&") else {
      return command.hasSuffix("& )") || command.hasSuffix("&)")
    }
    return true
  }

  private static func sleepsRandomly(_ command: String) -> Bool {
    command.contains("sleep") && (command.contains("RANDOM") || command.contains("rand(") || command.contains("shuf "))
  }
}
