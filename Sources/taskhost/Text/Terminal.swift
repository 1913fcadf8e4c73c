import Glibc
import HostThreads
import StrictText
import Synchronization
import TaskHostClient
import TaskModel

/// A command's output: answers on standard output, everything else on standard error.
///
/// Both may contain text from plugins. At a terminal, its control characters are escaped, so that they can neither control the terminal nor
/// imitate a line of this program. Files and pipes get the bytes unchanged.
enum Terminal {
  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
  /// Whether standard error is a terminal.
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1
  /// Whether the terminal of standard error can redraw a line: `TERM=dumb` says that it cannot.
  private static let redraws = errorIsTerminal && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? true
  /// Whether standard output may be coloured: a terminal, and NO_COLOR is not set (no-color.org).
  static let usesColours = outputIsTerminal && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)

  /// Writes a line to standard output. The line may contain colours, so the caller escapes foreign text in it.
  static func print(_ line: String) { write(Array((line + "\n").utf8), to: STDOUT_FILENO) }

  /// Writes bytes and a line end to standard output. At a terminal, control characters other than line ends and tabs are escaped.
  static func print(_ bytes: [UInt8]) {
    if outputIsTerminal {
      print(String(decoding: bytes, as: UTF8.self).escapingAllButLines)
    } else {
      write(bytes + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
    }
  }

  /// Writes a JSON object to standard output; `write` writes its members.
  static func printObject(_ write: (inout JSONWriter) -> Void) { print(JSONWriter.object(write)) }

  /// Writes one or more lines to standard error.
  static func note(_ line: String) { write(Array(((errorIsTerminal ? line.escapingAllButLines : line) + "\n").utf8), to: STDERR_FILENO) }

  /// Writes the notes of an answer.
  static func notes(_ notes: [String]) {
    for text in notes { note("note: \(text.escapingControlCharacters)") }
  }

  /// The columns of a line that does not wrap at the terminal of standard error.
  static var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1 else { return 79 }
    return Int(size.ws_col) - 1
  }

  /// The columns of the terminal of standard output; nil if it is a file or a pipe.
  static var outputColumns: Int? {
    guard outputIsTerminal else { return nil }
    var size = winsize()
    return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// Whether somebody at a terminal can be asked.
  static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && errorIsTerminal }

  /// Asks a question that ends with "Write yes:", and reads a line.
  ///
  /// - Returns: Whether it is `y` or `yes`.
  static func agrees(_ question: String) -> Bool {
    note(question)
    return ["y", "yes"].contains(readLine()?.lowercased())
  }

  /// Redraws the terminal's last line; an empty line removes it, and so does whatever is written next. Does nothing if standard error is not
  /// a terminal that can.
  static func progress(_ line: String) {
    guard redraws else { return }
    hasProgress.store(false, ordering: .relaxed)
    write(Array("\r\(line)\u{1B}[K".utf8), to: STDERR_FILENO)
    hasProgress.store(!line.isEmpty, ordering: .relaxed)
  }

  private static let hasProgress = Atomic(false)

  /// Why something of the answer could not be written, such as a full disk; nil if all was, or if its reader is gone.
  static let outputTrouble = Mutex<ErrorNumber?>(nil)

  /// Writes all of `bytes`. If that is not possible, the rest is dropped.
  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    if hasProgress.exchange(false, ordering: .relaxed) { progress("") }
    do throws(ErrorNumber) { try WholeTransfer.write(bytes, to: descriptor) } catch {
      guard descriptor == STDOUT_FILENO, error.code != EPIPE else { return }
      outputTrouble.withLock { $0 = $0 ?? error }
    }
  }
}
