import StrictText

/// The command of a line: what cron gives to the shell, and to the command's standard input.
///
/// In the command, `\%` means `%` and `\\` means `\`. The first other `%` ends it; in what follows, `%` means a line end and `\%` means `%`.
/// Tried with Debian's cron, 3.0pl1-162.
struct CronCommandText: Equatable {
  /// What the shell reads.
  let command: String
  /// What the command reads; nil if there is no `%`.
  let input: String?

  /// - Parameter bytes: UTF-8 text.
  init(_ bytes: [UInt8]) {
    var command: [UInt8] = []
    var position = 0
    var hasInput = false
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "%") {
        hasInput = true
        break
      }
      if byte == UInt8(ascii: "\\"), position < bytes.count {
        let next = bytes[position]
        position += 1
        if next != UInt8(ascii: "%"), next != byte { command.append(byte) }
        command.append(next)
      } else {
        command.append(byte)
      }
    }
    self.command = Bytes.shown(command)
    input = hasInput ? Self.input(bytes[position...]) : nil
  }

  private static func input(_ bytes: ArraySlice<UInt8>) -> String {
    var input: [UInt8] = []
    var isEscaped = false
    for byte in bytes {
      if isEscaped, byte == UInt8(ascii: "%") {
        input.removeLast()
        input.append(byte)
        isEscaped = false
      } else {
        input.append(byte == UInt8(ascii: "%") ? 0x0a : byte)
        // Unlike in the command, a second \ still escapes what follows.
        isEscaped = byte == UInt8(ascii: "\\")
      }
    }
    if let last = input.last, last != 0x0a { input.append(0x0a) }
    return Bytes.shown(input)
  }

  /// The words that run it with a shell. The input becomes a here-document, because a scheduled run has no other standard input.
  ///
  /// - Parameter shell: The value of `SHELL`.
  func words(shell: String) -> [String] {
    guard let input else { return [shell, "-c", command] }
    guard !input.isEmpty else { return [shell, "-c", command] }
    var end = "END_OF_INPUT"
    while input.parts(between: "\n").contains(end) { end += "_" }
    return ["/bin/sh", "-c", "exec \(Self.quoted(shell)) -c \(Self.quoted(command)) <<'\(end)'\n\(input)\(end)\n"]
  }

  /// The text as one word of a shell.
  static func quoted(_ text: String) -> String {
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { Bytes.isAlphanumeric($0) || [0x2f, 0x2e, 0x5f, 0x2d].contains($0) }
    return isPlain ? text : text.inShellQuotes
  }
}
