import CTaskHostSystem
public import Glibc

/// A program to start as a child process. The child leads its own process group, has no signals blocked or ignored, and gets only the given
/// descriptors.
public struct ChildProgram {
  private let executable: String
  private let arguments: [String]
  private let environment: [String]
  private let directory: String?

  /// Describes a program to start.
  ///
  /// - Parameters:
  ///   - executable: The path of the program.
  ///   - arguments: The arguments, starting with the program's name.
  ///   - environment: The complete environment, as `NAME=VALUE`.
  ///   - directory: The working directory; nil means that of this process.
  public init(_ executable: String, arguments: [String], environment: [String], directory: String? = nil) {
    self.executable = executable
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
  }

  /// Starts the program.
  ///
  /// - Parameter descriptors: The child's descriptors: each `from` becomes `to`. The child gets no others. Every `from` must be above every
  ///   `to`.
  /// - Returns: The process id, and a descriptor that becomes readable when the process has ended (pidfd). The caller must close it.
  /// - Throws: ``SystemFailure`` if the program could not be started. No process is left then.
  public func start(_ descriptors: [(from: Int32, to: Int32)]) throws(SystemFailure) -> (process: Glibc.pid_t, descriptor: Int32) {
    let process = try spawn(descriptors)
    let descriptor = taskhost_process_descriptor(process)
    guard descriptor >= 0 else {
      let failure = SystemFailure("pidfd_open")
      kill(-process, SIGKILL)
      waitpid(process, nil, 0)
      throw failure
    }
    return (process, descriptor)
  }

  private func spawn(_ descriptors: [(from: Int32, to: Int32)]) throws(SystemFailure) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (from, to) in descriptors { posix_spawn_file_actions_adddup2(&actions, from, to) }
    _ = taskhost_process_close_from(&actions, (descriptors.map(\.to).max() ?? -1) + 1)
    if let directory { _ = taskhost_process_begin_in(&actions, directory) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var process = pid_t()
    let words = arguments.map { strdup($0) } + [nil]
    let variables = environment.map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    let code = posix_spawn(&process, executable, &actions, &attributes, words, variables)
    guard code == 0 else { throw SystemFailure(executable, code) }
    return process
  }
}
