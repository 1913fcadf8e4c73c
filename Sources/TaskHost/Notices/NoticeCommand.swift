import CTaskHostSystem
import Glibc
import HostProcesses
import HostThreads
import TaskModel

/// Runs a program that tells of something, from memory: that is on its standard input, and in its environment. Its output is dropped, unless
/// the program is the host's own, and answers.
struct NoticeCommand: Sendable {
  /// How long it may take, in milliseconds; then its process group is killed.
  var patience = usualPatience
  /// The usual ``patience``.
  static let usualPatience: Int32 = 10_000
  /// Where a program finds others.
  private static let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

  /// The program's absolute path, and its arguments.
  let words: [String]
  /// Variables that it always gets.
  var environment: [String] = []

  /// Why a notice was not told, a sentence.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Runs it, and waits for its end or until `stopper` is readable, which kills it. A code other than 0 is a failure.
  func run(_ content: [UInt8], environment: [String], stopper: Int32) throws(Failure) {
    let code = try run(content, environment: environment, stopper: stopper, answer: nil)
    if code != 0 { throw Failure(description: "\(words.first ?? "") ended with code \(code)") }
  }

  /// The most bytes of an output that are read.
  private static let outputBytes = 4096

  /// The same, for a program of the host's own that answers on its standard output.
  ///
  /// - Returns: Its exit code, and the first 4 KiB of its output.
  func exchange(
    _ content: [UInt8], environment: [String], stopper: Int32
  ) throws(Failure) -> (code: Int32, output: [UInt8]) {
    let answer = taskhost_system_memfd("answer")
    guard answer >= 0 else { throw Failure(description: "an unnamed file: \(ErrorNumber.last)") }
    defer { close(answer) }
    let code = try run(content, environment: environment, stopper: stopper, answer: answer)
    guard lseek(answer, 0, SEEK_SET) == 0, let output = try? WholeTransfer.read(from: answer, atMost: Self.outputBytes) else {
      throw Failure(description: "an answer cannot be read: \(ErrorNumber.last)")
    }
    return (code, output)
  }

  /// - Parameter answer: Where its output goes; nil: nowhere.
  private func run(_ content: [UInt8], environment: [String], stopper: Int32, answer: Int32?) throws(Failure) -> Int32 {
    guard let program = words.first else { return 0 }
    let child: (process: pid_t, descriptor: Int32)
    do throws(SystemFailure) {
      let descriptors = ChildDescriptors()
      let input = try descriptors.high(descriptors.own(taskhost_system_memfd("notice")), "an unnamed file")
      do { try WholeTransfer.write(content, to: input) } catch { throw SystemFailure("an unnamed file", error.code) }
      guard lseek(input, 0, SEEK_SET) == 0 else { throw SystemFailure("an unnamed file") }
      let nowhere = try descriptors.high(descriptors.own(open("/dev/null", O_WRONLY | O_CLOEXEC)), "/dev/null")
      let output =
        try answer.map { (answer) throws(SystemFailure) in
          try descriptors.high(descriptors.own(fcntl(answer, F_DUPFD_CLOEXEC, 0)), "an unnamed file")
        } ?? nowhere
      child = try ChildProgram(program, arguments: words, environment: [Self.path] + self.environment + environment)
        .start([(input, STDIN_FILENO), (output, STDOUT_FILENO), (nowhere, STDERR_FILENO)])
    } catch { throw Failure(description: "\(error.what): \(error.reason)") }
    defer { close(child.descriptor) }
    let hasEnded = wait(for: child.descriptor, stopper: stopper)
    // Also what the program left behind.
    kill(-child.process, SIGKILL)
    var status: Int32 = 0
    while waitpid(child.process, &status, 0) < 0, errno == EINTR {}
    guard hasEnded else {
      throw Failure(description: "\(program) was killed: it had not ended after \(patience / 1000) s, or the host ends")
    }
    let code = (status >> 8) & 0xFF
    if status & 0x7F != 0 { throw Failure(description: "\(program) was ended by signal \(status & 0x7F)") }
    return code
  }

  /// Whether the process has ended in time.
  private func wait(for process: Int32, stopper: Int32) -> Bool {
    let end = SystemClock.now + .milliseconds(Int64(patience))
    while true {
      let left = Int32(clamping: (end - SystemClock.now).wholeMilliseconds)
      guard left > 0 else { return false }
      var entries = [pollfd(fd: process, events: Int16(POLLIN), revents: 0), pollfd(fd: stopper, events: Int16(POLLIN), revents: 0)]
      guard poll(&entries, 2, left) > 0 else { continue }
      if entries[0].revents != 0 { return true }
      if entries[1].revents != 0 { return false }
    }
  }
}
