import Glibc
import HostProcesses
import HostThreads

/// A program of the system that a command runs and waits for, with the beginning of what it prints.
struct HelperProgram {
  /// Its name, which is looked for in PATH, and its arguments.
  let words: [String]
  /// Descriptors that it gets besides its outputs: each `from` becomes `to`. Without standard input, it gets an empty one.
  var descriptors: [(from: Int32, to: Int32)] = []
  /// Where programs are; nil: as for this process.
  var path: String?

  struct End {
    /// As the shell counts: 128 and more is a signal.
    let code: Int32
    let output: String
    let errors: String

    /// Its last words in one line, for a message.
    var complaint: String {
      // tar's last line says only that there are others.
      let lines = errors.split(separator: "\n").map(String.init).filter { !$0.contains("Exiting with failure status") }
      return lines.isEmpty ? "it ended with code \(code)" : lines.suffix(3).joined(separator: "; ")
    }
  }

  /// The rest is read, and dropped.
  private static let mostBytes = 65_536

  func run() throws(SystemFailure) -> End {
    let own = ChildDescriptors()
    let (output, outputEnd) = try own.pipe()
    let (errors, errorsEnd) = try own.pipe()
    var given = [(from: outputEnd, to: STDOUT_FILENO), (from: errorsEnd, to: STDERR_FILENO)]
    for (from, to) in descriptors {
      given.append((try own.high(own.own(fcntl(from, F_DUPFD_CLOEXEC, 0)), "a descriptor"), to))
    }
    if !descriptors.contains(where: { $0.to == STDIN_FILENO }) {
      given.append((try own.high(own.own(open("/dev/null", O_RDONLY | O_CLOEXEC)), "/dev/null"), STDIN_FILENO))
    }
    let path = self.path ?? getenv("PATH").map { String(cString: $0) } ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    let child = try ChildProgram("/usr/bin/env", arguments: ["env", "--"] + words, environment: ["PATH=\(path)", "LC_ALL=C.UTF-8"])
      .start(given)
    close(child.descriptor)
    for end in [outputEnd, errorsEnd] { close(own.take(end)) }
    let texts = Self.read(output, errors)
    var status: Int32 = 0
    while waitpid(child.process, &status, 0) < 0, errno == EINTR {}
    let code = status & 0x7F != 0 ? 128 + (status & 0x7F) : (status >> 8) & 0xFF
    return End(code: code, output: texts.output, errors: texts.errors)
  }

  /// Reads both until their ends.
  private static func read(_ output: Int32, _ errors: Int32) -> (output: String, errors: String) {
    var entries = [output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var texts: [[UInt8]] = [[], []]
    var buffer = [UInt8](repeating: 0, count: 4096)
    while entries.contains(where: { $0.fd >= 0 }) {
      guard poll(&entries, 2, -1) > 0 else { continue }
      for index in 0..<2 where entries[index].fd >= 0 && entries[index].revents != 0 {
        let count = Glibc.read(entries[index].fd, &buffer, buffer.count)
        if count > 0 {
          texts[index] += buffer.prefix(min(count, mostBytes - texts[index].count))
        } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
          entries[index].fd = -1
        }
      }
    }
    return (String(decoding: texts[0], as: UTF8.self), String(decoding: texts[1], as: UTF8.self))
  }
}
