import Foundation
import Glibc
import Synchronization

/// A child process with its output, read on threads of its own.
final class Program: Sendable {
  /// How it ended.
  struct Result: Sendable {
    /// The exit code; −N when signal N ended it.
    let status: Int32
    let output: String
    let errors: String

    func json() throws -> JSON { try JSON(parsing: output) }
  }

  /// Its process id.
  let processID: pid_t
  private let command: [String]
  private let texts: Task<(String, String), any Error>
  private let ended: Task<Int32, any Error>
  /// Whether it has been reaped: its number may be another's then.
  private let isReaped: Reaped

  private final class Reaped: Sendable {
    let flag = Mutex(false)
  }

  /// Starts it. Not with Foundation's `Process`, which takes the whole test process along when many are started at once.
  ///
  /// - Parameter onErrorLine: Called for each line of standard error, on a thread of its own.
  init(
    _ executable: String, _ arguments: [String], input: Data = Data(), environment: [String: String] = [:], directory: String? = nil,
    onErrorLine: (@Sendable (String) -> Void)? = nil
  ) throws {
    command = [executable] + arguments
    let all = ["PATH": "/usr/local/bin:/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C.UTF-8"].merging(environment) { $1 }
    let (standardInput, output, errors) = (try Pipe(), try Pipe(), try Pipe())
    processID = try Self.spawn(
      (directory.map { ["/usr/bin/env", "-C", $0] } ?? []) + command, environment: all.map { "\($0)=\($1)" },
      descriptors: [standardInput.readEnd, output.writeEnd, errors.writeEnd])
    for descriptor in [standardInput.readEnd, output.writeEnd, errors.writeEnd] { close(descriptor) }
    let (process, isReaped) = (processID, Reaped())
    self.isReaped = isReaped
    ended = Task {
      try await onOwnThread {
        var information = siginfo_t()
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0 {
          guard errno == EINTR else { throw TestFailure("waitid \(process): errno \(errno)") }
        }
        return isReaped.flag.withLock { isReaped in
          var status: Int32 = 0
          waitpid(process, &status, 0)
          isReaped = true
          return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
        }
      }
    }
    let (inputEnd, outputEnd, errorEnd) = (standardInput.writeEnd, output.readEnd, errors.readEnd)
    texts = Task {
      async let outputText = onOwnThread { try Self.read(outputEnd, line: nil) }
      async let errorText = onOwnThread { try Self.read(errorEnd, line: onErrorLine) }
      return try await (outputText, errorText)
    }
    Thread.detachNewThread {
      var rest = input[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(inputEnd, $0.baseAddress, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { break }
      }
      close(inputEnd)
    }
  }

  var isRunning: Bool { isReaped.flag.withLock { !$0 } }

  func send(_ signal: Int32) { isReaped.flag.withLock { if !$0 { _ = kill(processID, signal) } } }

  /// Waits for its end; one that takes longer than `limit` is killed, and the test fails.
  func result(within limit: Duration = .seconds(60)) async throws -> Result {
    let late = Task {
      try await Task.sleep(for: limit)
      send(SIGKILL)
      return true
    }
    let status = try await ended.value
    late.cancel()
    let (output, errors) = try await texts.value
    if (try? await late.value) == true {
      throw TestFailure(
        "\(command.dropFirst()) took longer than \(limit) and was killed; it wrote: \(output.suffix(2000)) \(errors.suffix(2000))")
    }
    return Result(status: status, output: output, errors: errors)
  }

  /// Held while a process is started, and while there are descriptors that it would inherit by accident.
  private static let inheritance = Mutex(())

  private struct Pipe {
    let readEnd: Int32
    let writeEnd: Int32

    init() throws {
      var ends: [Int32] = [-1, -1]
      try inheritance.withLock { _ in
        guard pipe(&ends) == 0 else { throw TestFailure("pipe: errno \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      }
      (readEnd, writeEnd) = (ends[0], ends[1])
    }
  }

  /// Starts a process whose first descriptors are those given, with no signal blocked or ignored.
  private static func spawn(_ command: [String], environment: [String], descriptors: [Int32]) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in descriptors.enumerated() { posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number)) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let (arguments, variables) = (command.map { strdup($0) } + [nil], environment.map { strdup($0) } + [nil])
    defer { for text in arguments + variables { free(text) } }
    var process: pid_t = 0
    let error = inheritance.withLock { _ in posix_spawn(&process, command[0], &actions, &attributes, arguments, variables) }
    guard error == 0 else { throw TestFailure("\(command[0]) cannot be started: errno \(error)") }
    return process
  }

  /// Starts it and waits for its end.
  static func run(
    _ executable: String, _ arguments: [String], input: Data = Data(), environment: [String: String] = [:], directory: String? = nil,
    within limit: Duration = .seconds(60)
  ) async throws -> Result {
    try await Program(executable, arguments, input: input, environment: environment, directory: directory).result(within: limit)
  }

  private static func read(_ descriptor: Int32, line: (@Sendable (String) -> Void)?) throws -> String {
    defer { close(descriptor) }
    var (all, rest) = (Data(), Data())
    try readAll(descriptor) { part in
      all.append(contentsOf: part)
      guard let line else { return }
      rest.append(contentsOf: part)
      while let end = rest.firstIndex(of: 0x0A) {
        line(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
        rest = Data(rest[rest.index(after: end)...])
      }
    }
    return String(decoding: all, as: UTF8.self)
  }

  /// Reads a descriptor to its end. A signal that interrupts it does no harm.
  static func readAll(_ descriptor: Int32, _ take: (ArraySlice<UInt8>) throws -> Void) throws {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count == 0 { return }
      if count < 0 {
        if errno == EINTR { continue }
        throw TestFailure("read: errno \(errno)")
      }
      try take(buffer[..<count])
    }
  }
}
