internal import CExec
internal import CTaskHost
import Glibc
internal import TaskHostSDK

/// One run of a command whose process serves many: it sends the run, and takes lines until the result.
struct PersistentRun {
  private let settings: CommandSettings
  private let run: RunHandle
  private let log: OutputLog
  private let child: PersistentChild
  private let number: Int64
  /// What the child has not taken yet.
  private var pending: [UInt8]
  private var lines: PersistentChild.Lines
  private var ending: Ending?

  private enum Ending {
    case result(TaskResult, output: [UInt8]?, message: String?)
    case flaw(String)
    /// The child cannot go on, and another one may.
    case broken(String)
    case process(ChildProcess.End)
  }

  /// Serves a run, on the calling thread.
  static func serve(_ children: PersistentChildren, _ settings: CommandSettings, in dataDirectory: String, _ run: RunHandle)
    -> taskhost_result
  {
    let log = OutputLog(run)
    Leftovers.endOnce(settings, in: dataDirectory, log)
    do throws(StartFailure) {
      let child = try children.take()
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Pipe.capacity, alignment: 1)
      defer { buffer.deallocate() }
      var served = PersistentRun(settings, run, log, child, through: buffer)
      let (outcome, isReusable) = served.outcome(through: buffer)
      child.endRun(served.lines)
      // A line that the child has half of would spoil the next one.
      if isReusable, served.pending.isEmpty { children.give(child) } else { children.end(child) }
      return outcome.report(to: run)
    } catch {
      return RunVerdict(result: error.isTemporary ? .retry() : .failure, message: error.description).report(to: run)
    }
  }

  private init(
    _ settings: CommandSettings, _ run: RunHandle, _ log: OutputLog, _ child: PersistentChild,
    through buffer: UnsafeMutableRawBufferPointer
  ) {
    (self.settings, self.run, self.log, self.child) = (settings, run, log, child)
    let begin = child.beginRun(through: buffer)
    (number, lines) = (begin.number, begin.lines)
    for stray in begin.strays { Self.ignore(stray, log) }
    pending = ChildMessage.begin(number, settings, run)
  }

  private static func ignore(_ what: String, _ log: OutputLog) { log.write(taskhost_log_level(TASKHOST_WARNING), "ignored: \(what)") }

  private mutating func outcome(through buffer: UnsafeMutableRawBufferPointer) -> (RunVerdict, isReusable: Bool) {
    let stop = follow(through: buffer)
    lines.error.finish { log.line($0, isError: true) }
    log.finish()
    switch ending {
    case .result(let result, let output, let message):
      if let output {
        do { try run.write(output) { run.functions.pointee.set_output(run.task, $0, $1) } } catch {
          return (RunVerdict(result: .failure, message: "its output was refused: \(error.message)"), true)
        }
      }
      return (RunVerdict(result: result, message: message), true)
    case .broken(let sentence): return (RunVerdict(result: .retry(), message: sentence), false)
    case .flaw(let sentence): return (RunVerdict(result: .failure, message: sentence), false)
    case .process(let end):
      let why = stop.map { "stopped, because \($0.clause)" } ?? "the process ended without a result"
      let line = log.lastError.isEmpty ? "" : ": \(log.lastError.prefix(500))"
      return (RunVerdict(result: .retry(), message: "\(why): \(end.words)\(line)"), false)
    case nil: return (RunVerdict(result: .retry(), message: nil), false)
    }
  }

  /// Sends and takes lines until there is an ``ending``.
  ///
  /// - Returns: Why the run was asked to stop, if it was.
  private mutating func follow(through buffer: UnsafeMutableRawBufferPointer) -> StopReason? {
    var waits = [child.output, child.error, child.process.descriptor, -1, -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    waits[4].events = Int16(POLLOUT)
    var expiration = RunExpiration(of: run)
    while ending == nil {
      if expiration.takeBegin(), let reason = expiration.reason {
        pending += ChildMessage.expire(number, reason, graceMilliseconds: expiration.grace)
      }
      send()
      if ending != nil { break }
      waits[3].fd = expiration.descriptor
      waits[4].fd = pending.isEmpty ? -1 : child.input
      _ = poll(&waits, nfds_t(waits.count), expiration.patience)
      if expiration.takeEnd() { child.process.signal(SIGKILL) }
      // Before the lines, so that what it wrote last is read after its end.
      let end = waits[2].revents == 0 ? nil : child.process.end()
      for place in 0...1 where waits[place].fd >= 0 && (waits[place].revents != 0 || end != nil) {
        if !read(waits[place].fd, isError: place == 1, buffer) { waits[place].fd = -1 }
      }
      if end != nil {
        // The last line needs no line feed.
        var last: [[UInt8]] = []
        lines.output.finish { last.append($0) }
        for line in last where ending == nil { take(line) }
      }
      if let end, ending == nil { ending = .process(end) }
    }
    return expiration.reason
  }

  private mutating func send() {
    while !pending.isEmpty {
      let count = pending.withUnsafeBytes { taskhost_exec_write(child.input, $0.baseAddress, $0.count) }
      guard count > 0 else {
        // Its end says why, if it has ended.
        if count == -Int64(EPIPE) {
          pending = []
          if child.process.end() == nil { ending = .broken("the program has closed its standard input") }
        }
        return
      }
      pending.removeFirst(Int(count))
    }
  }

  private mutating func read(_ descriptor: Int32, isError: Bool, _ buffer: UnsafeMutableRawBufferPointer) -> Bool {
    Pipe.drain(descriptor, through: buffer, limit: buffer.count) { bytes in
      if isError {
        lines.error.take(bytes) { log.line($0, isError: true) }
      } else {
        var complete: [[UInt8]] = []
        lines.output.take(bytes) { complete.append($0) }
        for line in complete {
          // The result has ended the run: what follows belongs to none.
          if ending == nil { take(line) } else if let stray = ChildMessage.stray(line) { Self.ignore(stray, log) }
        }
      }
    }
  }

  private mutating func take(_ line: [UInt8]) {
    if line.count >= ChildMessage.limit {
      ending = .flaw("a line is longer than \(ChildMessage.limit) bytes")
      return
    }
    do throws(ChildMessage.Flaw) {
      switch try ChildMessage(line, run: number) {
      case .progress(let completed, let total, let unit, let message):
        run.progress(completed, of: total, unit: unit, message: message)
      case .work(let counts): run.add(counts)
      case .log(let level, let text): log.write(taskhost_log_level(level), text)
      case .result(let result, let output, let message): ending = .result(result, output: output, message: message)
      case .text: log.line(line, isError: false)
      }
    } catch {
      if error.isResult {
        ending = .flaw("its result is refused: \(error.sentence)")
      } else {
        Self.ignore(error.sentence, log)
      }
    }
  }
}
