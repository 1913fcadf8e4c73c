internal import CExec
internal import CTaskHost
import Glibc
internal import TaskHostSDK

/// One run of a command that is started for it: its process from start to end, on the run's thread.
struct CommandRun {
  /// The host's limit on a run's output in bytes.
  private static let outputLimit = 65_536
  /// A longer line of output is divided. The host takes 8 KiB at once.
  static let lineLimit = 8_000
  /// What is read after the process has ended: what it wrote is in the pipe, at most this much.
  private static let rest = 1 << 20

  private let settings: CommandSettings
  private let run: RunHandle
  private let log: OutputLog
  private var output: [UInt8] = []
  private var outputLines = LineBuffer(limit: CommandRun.lineLimit)
  private var errorLines = LineBuffer(limit: CommandRun.lineLimit)

  private init(_ settings: CommandSettings, _ run: RunHandle) {
    self.settings = settings
    self.run = run
    log = OutputLog(run)
  }

  /// Runs the command, on the calling thread.
  static func serve(_ settings: CommandSettings, in dataDirectory: String, _ run: RunHandle) -> taskhost_result {
    var command = CommandRun(settings, run)
    return command.outcome(dataDirectory).report(to: run)
  }

  private mutating func outcome(_ dataDirectory: String) -> RunVerdict {
    do throws(StartFailure) {
      Leftovers.endOnce(settings, in: dataDirectory, log)
      let input = try content()
      defer { close(input) }
      let pipes = try Pipe.make([.reads, .reads])
      defer { for pipe in pipes { close(pipe.read) } }
      let child: ChildProcess
      do {
        defer { for pipe in pipes { close(pipe.write) } }
        child = try ChildProcess.start(
          settings, for: run, in: dataDirectory, ChildProcess.Streams(input: input, output: pipes[0].write, error: pipes[1].write))
      }
      let (end, stop) = follow(child, pipes[0].read, pipes[1].read)
      return conclude(end, stop)
    } catch {
      return RunVerdict(result: error.isTemporary ? .retry() : .failure, message: error.description)
    }
  }

  /// The payload as a file, which becomes standard input. Without a payload it is empty.
  private func content() throws(StartFailure) -> Int32 {
    let payload = (try? run.payload()) ?? []
    let descriptor = payload.withUnsafeBytes { taskhost_exec_content($0.baseAddress, $0.count) }
    guard descriptor >= 0 else {
      throw StartFailure(description: "the payload cannot be passed on: \(String(cString: strerror(-descriptor)))", isTemporary: true)
    }
    return descriptor
  }

  // MARK: While it runs

  /// Passes on what the process writes until it has ended; asks it to stop when the run expires, and ends it before the grace is over.
  ///
  /// - Returns: How it ended, and why it was asked to stop, if it was.
  private mutating func follow(_ child: ChildProcess, _ output: Int32, _ error: Int32) -> (ChildProcess.End, StopReason?) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
    defer { buffer.deallocate() }
    var waits = [
      pollfd(fd: output, events: Int16(POLLIN), revents: 0), pollfd(fd: error, events: Int16(POLLIN), revents: 0),
      pollfd(fd: child.descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: -1, events: Int16(POLLIN), revents: 0),
    ]
    var expiration = RunExpiration(of: run)
    var end: ChildProcess.End?
    while end == nil {
      if expiration.takeBegin() { child.signal(SIGTERM) }
      waits[3].fd = expiration.descriptor
      _ = poll(&waits, nfds_t(waits.count), expiration.patience)
      if expiration.takeEnd() { child.signal(SIGKILL) }
      for place in 0...1 where waits[place].fd >= 0 && waits[place].revents != 0 {
        if !read(waits[place].fd, place == 1, buffer, atMost: buffer.count) { waits[place].fd = -1 }
      }
      end = child.end()
    }
    // Ends the rest of its group, so that nothing more is written.
    child.reap()
    _ = read(output, false, buffer, atMost: Self.rest)
    _ = read(error, true, buffer, atMost: Self.rest)
    return (end ?? .exited(0), expiration.reason)
  }

  private mutating func read(_ descriptor: Int32, _ isError: Bool, _ buffer: UnsafeMutableRawBufferPointer, atMost limit: Int) -> Bool {
    Pipe.drain(descriptor, through: buffer, limit: limit) { bytes in
      if isError {
        errorLines.take(bytes) { log.line($0, isError: true) }
      } else if settings.keepsOutput {
        output.append(contentsOf: bytes.prefix(Self.outputLimit + 1 - output.count))
      } else {
        outputLines.take(bytes) { log.line($0, isError: false) }
      }
    }
  }

  // MARK: Its end

  private mutating func conclude(_ end: ChildProcess.End, _ stop: StopReason?) -> RunVerdict {
    outputLines.finish { log.line($0, isError: false) }
    errorLines.finish { log.line($0, isError: true) }
    log.finish()
    if settings.keepsOutput {
      if output.count > Self.outputLimit {
        output.removeLast(output.count - Self.outputLimit)
        log.note("the output is cut after \(Self.outputLimit) bytes")
      }
      try? run.write(output) { run.functions.pointee.set_output(run.task, $0, $1) }
    }
    return settings.exitCodes.outcome(of: end, stop: stop, lastLine: log.lastError.isEmpty ? log.lastLine : log.lastError)
  }
}

extension ExitCodes {
  /// What the end of a process means.
  ///
  /// - Parameters:
  ///   - stop: Why the run was asked to stop; nil if it was not.
  ///   - lastLine: What the process wrote last.
  func outcome(of end: ChildProcess.End, stop: StopReason?, lastLine: String) -> RunVerdict {
    let result: TaskResult =
      switch end {
      // A program that is told to stop rarely says by its code whether it did its work.
      case .exited(let code): stop != nil && code != 0 && !names(code) ? .retry() : self.result(of: code)
      case .signalled: .retry()
      }
    switch result {
    case .success, .noop, .snooze: return RunVerdict(result: result, message: nil)
    case .retry, .failure: break
    }
    let why = stop.map { "stopped, because \($0.clause): " } ?? ""
    let line = lastLine.isEmpty ? "" : ": \(lastLine.prefix(500))"
    return RunVerdict(result: result, message: why + end.words + line)
  }
}

extension StopReason {
  /// A clause that follows "because".
  var clause: String {
    switch self {
    case .budget: "its budget was spent"
    case .cancelled: "its request was cancelled"
    case .conditions: "a condition was lost"
    case .draining: "the host shuts down"
    case .replaced: "its request was replaced"
    case .stalled: "it made no progress"
    default: "the host asked it to"
    }
  }
}

extension CommandSettings {
  /// The user that the command changes to; nil if there is none.
  func account() throws(StartFailure) -> UserAccount? {
    guard let user else { return nil }
    return try UserAccount.named(user)
  }

  /// The variables that describe a run; without a run, those of all runs.
  func variables(of run: RunHandle?, in dataDirectory: String) -> [String: String] {
    var variables = ["TASKHOST_IDENTIFIER": identifier, "TASKHOST_DATA_DIRECTORY": dataDirectory]
    variables["TASKHOST_SOCKET"] = socket
    if let run {
      variables["TASKHOST_REQUEST_ID"] = run.functions.pointee.request_id(run.task).map { String(cString: $0) }
      variables["TASKHOST_ATTEMPT"] = String(run.functions.pointee.attempt(run.task))
      variables["TASKHOST_FENCING_TOKEN"] = run.fencingToken.map(String.init)
      // The name that other tools read, `taskhost submit` among them.
      variables["TRACEPARENT"] = run.trace?.traceparent
      if isNotice { NoticeVariables.add(to: &variables, from: (try? run.payload()) ?? []) }
    }
    return variables
  }
}
