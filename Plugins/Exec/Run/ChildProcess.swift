internal import CExec
import Glibc
internal import TaskHostSDK

/// A child process, from its start until it is reaped. One thread uses it: the one that started it, with which the process dies.
struct ChildProcess {
  /// How a process ended.
  enum End: Sendable, Equatable {
    case exited(Int32)
    case signalled(Int32)

    /// A clause for a message, such as "exit code 75 (temporary failure)".
    var words: String {
      switch self {
      case .exited(let code): "exit code \(code)" + (ExitCodes.meaning(of: code).map { " (\($0))" } ?? "")
      case .signalled(let signal): "\(SignalNames.name(of: signal)) ended it"
      }
    }
  }

  let id: Int32
  /// Readable once the process has ended.
  let descriptor: Int32
  /// Whether it leads a group of its own.
  private let leadsGroup: Bool

  /// The descriptors that become 0, 1 and 2. The caller closes them.
  struct Streams {
    let input, output, error: Int32
  }

  /// Starts the command's program.
  ///
  /// - Parameter run: The run that the process serves; nil if it serves many.
  static func start(
    _ settings: CommandSettings, for run: RunHandle?, in dataDirectory: String, _ streams: Streams
  ) throws(StartFailure) -> ChildProcess {
    let account = try settings.account()
    let environment = CommandEnvironment(
      settings, account: account ?? (settings.isSandboxed ? nil : UserAccount.own()), own: settings.variables(of: run, in: dataDirectory))
    let path = try environment.program(settings.run[0])
    let groups = try account?.groups() ?? []
    // A program opens /dev/stderr anew, which only the owner of the pipe may do.
    if let account {
      for descriptor in [streams.input, streams.output, streams.error] { _ = fchown(descriptor, account.user, account.group) }
    }
    let arguments = CStringArray(settings.run)
    let variables = CStringArray(environment.variables)
    defer {
      arguments.free()
      variables.free()
    }
    var (descriptor, step): (Int32, Int32) = (-1, 0)
    let directory = settings.directory ?? environment.home
    let process = path.withCString { path in
      directory.withCString { directory in
        "/".withCString { root in
          groups.withUnsafeBufferPointer { groups in
            var order = taskhost_exec_order()
            order.path = path
            order.arguments = UnsafePointer(arguments.pointer)
            order.environment = UnsafePointer(variables.pointer)
            order.session = variables.value(of: CommandEnvironment.session)
            order.directory = directory
            // A home directory may be missing, as that of nobody is.
            order.fallback = settings.directory == nil ? root : nil
            (order.input, order.output, order.error) = (streams.input, streams.output, streams.error)
            order.is_sandboxed = settings.isSandboxed ? 1 : 0
            // Whoever is that user already, and not root, may change nothing and need not.
            order.changes_user = account.map { $0.user != geteuid() || geteuid() == 0 } ?? false ? 1 : 0
            (order.user, order.group) = (account?.user ?? 0, account?.group ?? 0)
            (order.groups, order.group_count) = (groups.baseAddress, UInt64(groups.count))
            order.memory = UInt64(settings.memory ?? 0)
            order.descriptors = UInt64(settings.descriptors ?? 0)
            return taskhost_exec_start(&order, &descriptor, &step)
          }
        }
      }
    }
    guard process > 0 else { throw failure(step, -process, path: path, directory: directory, user: account?.name ?? "") }
    return ChildProcess(id: process, descriptor: descriptor, leadsGroup: !settings.isSandboxed)
  }

  private static func failure(_ step: Int32, _ code: Int32, path: String, directory: String, user: String) -> StartFailure {
    let reason = String(cString: strerror(code))
    // The machine lacks memory, processes or descriptors.
    let isTemporary = [ENOMEM, EAGAIN, ENFILE, EMFILE].contains(code)
    let text =
      switch Int(step) {
      case TASKHOST_EXEC_DIRECTORY: "cannot start \(path): its directory \(directory): \(reason)"
      case TASKHOST_EXEC_USER:
        "cannot start \(path): the host may not change to the user \(user): \(reason): run the host as root, or remove user"
      case TASKHOST_EXEC_LIMIT: "cannot start \(path): its limits cannot be set: \(reason)"
      case TASKHOST_EXEC_PROGRAM where code == ENOEXEC:
        "cannot start \(path): \(reason): it is neither a program nor a script that begins with #!"
      case TASKHOST_EXEC_PROGRAM where code == ENOENT && access(path, F_OK) == 0:
        "cannot start \(path): the program that its first line names (#!) is not there"
      case TASKHOST_EXEC_PROGRAM: "cannot start \(path): \(reason)"
      default: "cannot start \(path): the system refuses a process: \(reason)"
      }
    return StartFailure(description: text, isTemporary: isTemporary)
  }

  /// How it ended; nil while it runs. It remains a zombie, so that its group keeps its number.
  func end() -> End? {
    var code: Int32 = 0
    switch taskhost_exec_ended(id, &code) {
    case 0: return nil
    case 1: return .exited(code)
    default: return .signalled(code)
    }
  }

  /// Sends a signal to the process and its group.
  func signal(_ number: Int32) {
    _ = kill(leadsGroup ? -id : id, number)
    // A stopped process does not notice.
    if number == SIGTERM { _ = kill(leadsGroup ? -id : id, SIGCONT) }
  }

  /// Ends what is left of the group, removes the zombie and closes the descriptor.
  func reap() {
    if leadsGroup { _ = kill(-id, SIGKILL) }
    taskhost_exec_reap(id)
    close(descriptor)
  }
}

/// A NULL-terminated array of C strings.
private struct CStringArray {
  let pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ texts: [String]) {
    count = texts.count
    pointer = .allocate(capacity: texts.count + 1)
    for (index, text) in texts.enumerated() { (pointer + index).initialize(to: strdup(text)) }
    (pointer + count).initialize(to: nil)
  }

  /// Where the value of the variable begins; nil if there is none.
  func value(of name: String) -> UnsafeMutablePointer<CChar>? {
    let prefix = name + "="
    return (0..<count).lazy.compactMap { pointer[$0] }.first { strncmp($0, prefix, prefix.utf8.count) == 0 }?.advanced(
      by: prefix.utf8.count)
  }

  func free() {
    for index in 0..<count { Glibc.free(pointer[index]) }
    pointer.deallocate()
  }
}
