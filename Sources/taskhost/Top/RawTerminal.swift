import Glibc
import HostThreads

/// The terminal of standard input and output, as a program that draws a whole screen has it: keys come one by one, nothing is echoed.
final class RawTerminal: Sendable {
  enum Input: Sendable {
    case key(Key)
    case resized
    /// Somebody asks the program to end, or the terminal is gone.
    case ended
  }

  /// Why there is no such terminal.
  struct Failure: Error {
    let reason: String
  }

  private let before: termios
  private let wake: (read: Int32, write: Int32)

  /// - Throws: ``Failure`` if standard input and output are no terminal that can draw a screen.
  init() throws(Failure) {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
      throw Failure(reason: "needs a terminal: standard input and output are none")
    }
    guard let name = getenv("TERM"), strcmp(name, "dumb") != 0, name.pointee != 0 else {
      throw Failure(reason: "needs a terminal that can draw a screen: TERM says that this one cannot")
    }
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else { throw Failure(reason: "cannot set the terminal: \(ErrorNumber(errno))") }
    self.before = before
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Failure(reason: "cannot make a pipe: \(ErrorNumber(errno))") }
    // A signal that comes while many wait is one of them.
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    wake = (ends[0], ends[1])
    Self.signalled = ends[1]
  }

  /// Takes the terminal. ``leave()`` gives it back.
  func enter() {
    var raw = before
    cfmakeraw(&raw)
    // Line ends of what is written stay as they are.
    raw.c_oflag = before.c_oflag
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
    // The alternate screen, without a cursor and without wrapping.
    Self.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J")
  }

  func leave() {
    Self.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
    var before = before
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
  }

  /// Gives the terminal back and stops this process, as control-Z does. Returns when the process goes on.
  func suspend() {
    leave()
    kill(getpid(), SIGSTOP)
    enter()
  }

  var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Draws the lines over what is there, at once.
  func draw(_ lines: [String]) {
    let text = lines.map { "\u{1B}[K\($0)" }.joined(separator: "\r\n")
    // Terminals that know the first and the last sequence show nothing in between (synchronized output); others ignore them.
    Self.write("\u{1B}[?2026h\u{1B}[H\(text)\u{1B}[J\u{1B}[?2026l")
  }

  /// Keys, and signals, from now on. A thread reads them for the life of the process.
  func inputs() throws -> AsyncStream<Input> {
    let (stream, continuation) = AsyncStream<Input>.makeStream()
    for number in [SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT] { signal(number) { RawTerminal.pass($0) } }
    try HostThread.start("keys") { [wake] in
      var parser = KeyParser()
      while true {
        var ends = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0), pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0)]
        // An escape that nothing follows for 50 ms is the key.
        let count = poll(&ends, 2, parser.isWaiting ? 50 : -1)
        if count == 0 { for key in parser.flush() { continuation.yield(.key(key)) } }
        guard count > 0 else { continue }
        var bytes = [UInt8](repeating: 0, count: 256)
        if ends[1].revents != 0 {
          let read = read(wake.read, &bytes, bytes.count)
          for number in bytes.prefix(max(0, read)) { continuation.yield(Int32(number) == SIGWINCH ? .resized : .ended) }
        }
        guard ends[0].revents != 0 else { continue }
        let read = read(STDIN_FILENO, &bytes, bytes.count)
        guard read > 0 else {
          continuation.yield(.ended)
          return
        }
        for key in parser.feed(Array(bytes.prefix(read))) { continuation.yield(.key(key)) }
      }
    }
    return stream
  }

  /// Where a signal's number goes.
  /// Reason for `unsafe`: written once, before the signals are caught, and a signal handler can take no lock.
  private nonisolated(unsafe) static var signalled: Int32 = -1

  /// Async-signal-safe.
  private static func pass(_ number: Int32) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = Glibc.write(signalled, &byte, 1)
    errno = saved
  }

  private static func write(_ text: String) { try? WholeTransfer.write(Array(text.utf8), to: STDOUT_FILENO) }
}
