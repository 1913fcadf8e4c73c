import Glibc

/// A process that waits until it is killed: `cat` with nothing to read. It is killed and taken at the latest when this goes.
final class Idler {
  let process: pid_t
  private let input: Int32
  private var status: Int32?

  init() throws {
    var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
    guard pipe(&input) == 0, pipe(&output) == 0 else { throw TestObstacle("no pipe: \(errno)") }
    for descriptor in input + output { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input[0], 0)
    posix_spawn_file_actions_adddup2(&actions, output[1], 1)
    let words: [String] = ["sh", "-c", "echo; exec cat"]
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process = pid_t(-1)
    let code = posix_spawn(&process, "/bin/sh", &actions, nil, arguments, environ)
    close(input[0])
    close(output[1])
    var byte: UInt8 = 0
    let isReady = code == 0 && read(output[0], &byte, 1) == 1
    close(output[0])
    self.process = process
    self.input = input[1]
    guard isReady else { throw TestObstacle("no child: \(code)") }
  }

  /// Waits for its end: the signal that killed it; 0: none.
  func end() -> Int32 {
    if let status { return status & 0x7F }
    var status: Int32 = 0
    waitpid(process, &status, 0)
    self.status = status
    return status & 0x7F
  }

  deinit {
    close(input)
    if status == nil, process > 0 {
      kill(process, SIGKILL)
      _ = end()
    }
  }
}

/// Why a test could not do what it is about.
struct TestObstacle: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
