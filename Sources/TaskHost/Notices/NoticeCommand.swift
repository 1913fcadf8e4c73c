import CTaskHostSystem
import Glibc
import HostProcesses
import HostThreads
import TaskModel

/// Runs a program that tells of something, from memory: that is on its standard input, and in its environment. Its output is dropped.
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

  /// Runs it, and waits for its end or until `stopper` is readable, which kills it.
  func run(_ content: [UInt8], environment: [String], stopper: Int32) throws(Failure) {
    guard let program = words.first else { return }
    let child: (process: pid_t, descriptor: Int32)
    do throws(SystemFailure) {
      let descriptors = ChildDescriptors()
      let input = try descriptors.high(descriptors.own(taskhost_system_memfd("notice")), "an unnamed file")
      do { try WholeTransfer.write(content, to: input) } catch { throw SystemFailure("an unnamed file", error.code) }
      guard lseek(input, 0, SEEK_SET) == 0 else { throw SystemFailure("an unnamed file") }
      let nowhere = try descriptors.high(descriptors.own(open("/dev/null", O_WRONLY | O_CLOEXEC)), "/dev/null")
      child = try ChildProgram(program, arguments: words, environment: [Self.path] + self.environment + environment)
        .start([(input, STDIN_FILENO), (nowhere, STDOUT_FILENO), (nowhere, STDERR_FILENO)])
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
    if code != 0 { throw Failure(description: "\(program) ended with code \(code)") }
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
