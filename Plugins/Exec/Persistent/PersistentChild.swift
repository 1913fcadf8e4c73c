internal import CExec
import Glibc
import Synchronization

/// A process that serves one run after another.
///
/// Its keeper, a thread that lives as long as the process, starts it, ends it and reaps it; the process dies with that thread. While a run
/// has the child, only the run's thread reads and writes: from ``beginRun(through:)`` to ``endRun(_:)``.
final class PersistentChild: Sendable {
  let process: ChildProcess
  /// Takes lines for the child; does not block.
  let input: Int32
  /// What the child writes; they do not block.
  let output, error: Int32
  private let control: Pipe
  private let reading = Mutex(Reading())

  /// Where the reader of the child's output is.
  private struct Reading {
    /// The number of the last run.
    var number: Int64 = 0
    /// Whether a run has the child.
    var isRunning = false
    var lines = Lines()
    /// Sentences about results that were written while no run had the child, for the log of the next one.
    var strays: [String] = []
  }

  /// The lines that the child has begun to write.
  struct Lines {
    var output = LineBuffer(limit: ChildMessage.limit)
    var error = LineBuffer(limit: CommandRun.lineLimit)
  }

  /// How many results that nobody awaited are named in a run's log.
  private static let namedStrays = 3

  private init(_ process: ChildProcess, input: Int32, output: Int32, error: Int32, control: Pipe) {
    (self.process, self.input, self.output, self.error, self.control) = (process, input, output, error, control)
  }

  // MARK: Whose line it is

  /// Begins a run: what the child writes from now on belongs to it, what it has written before to none.
  ///
  /// Call it before the child hears of the run. Then its answer cannot be among what is dropped here.
  ///
  /// - Returns: The run's number, the lines to go on with, and sentences about results that nobody awaited.
  func beginRun(through buffer: UnsafeMutableRawBufferPointer) -> (number: Int64, lines: Lines, strays: [String]) {
    reading.withLock { reading in
      _ = Self.drop(self, &reading, through: buffer)
      reading.lines.output.skipLine()
      reading.lines.error.skipLine()
      reading.isRunning = true
      reading.number += 1
      defer { reading.strays = [] }
      return (reading.number, reading.lines, reading.strays)
    }
  }

  /// Ends a run: what the child writes from now on belongs to none.
  func endRun(_ lines: Lines) {
    reading.withLock { reading in
      reading.lines = lines
      reading.isRunning = false
    }
  }

  /// Drops what the child has written while no run has it. Reads nothing while a run has it.
  ///
  /// - Returns: Whether more may come: false if the child has closed its output.
  func dropUnasked(through buffer: UnsafeMutableRawBufferPointer) -> Bool {
    reading.withLock { reading in reading.isRunning || Self.drop(self, &reading, through: buffer) }
  }

  private static func drop(_ child: PersistentChild, _ reading: inout Reading, through buffer: UnsafeMutableRawBufferPointer) -> Bool {
    var (lines, strays) = (reading.lines, reading.strays)
    // No more than a pipe holds: a child that always writes does not keep a run from its begin.
    let mayWrite = Pipe.drain(child.output, through: buffer, limit: Pipe.capacity) { bytes in
      lines.output.take(bytes) { line in
        if strays.count < namedStrays, let stray = ChildMessage.stray(line) { strays.append(stray) }
      }
    }
    let mayWriteErrors = Pipe.drain(child.error, through: buffer, limit: Pipe.capacity) { bytes in lines.error.take(bytes) { _ in } }
    (reading.lines, reading.strays) = (lines, strays)
    return mayWrite && mayWriteErrors
  }

  /// What the pool tells the keeper, as a byte.
  enum Order: UInt8 {
    /// No run has the child now.
    case idle = 1
    /// A run has taken the child.
    case busy = 2
    /// End the child.
    case end = 3
  }

  /// Never blocks: the keeper reads, and a pipe has room for more orders than there are.
  func send(_ order: Order) {
    var byte = order.rawValue
    _ = taskhost_exec_write(control.write, &byte, 1)
  }

  /// Starts a child and its keeper.
  ///
  /// - Parameters:
  ///   - idleTime: How long it is kept without a run.
  ///   - ended: Called by the keeper when the child may not be taken any more: it was idle for too long, or has ended.
  static func start(
    _ settings: CommandSettings, in dataDirectory: String, ended: @escaping @Sendable (PersistentChild) -> Bool
  ) throws(StartFailure) -> PersistentChild {
    let start = Start()
    let failure = KeeperThread.start {
      do throws(StartFailure) {
        let child = try launch(settings, in: dataDirectory)
        start.finish(.success(child))
        child.keep(settings.idleTime, ended)
      } catch { start.finish(.failure(error)) }
    }
    if let failure { throw StartFailure(description: "no thread: \(String(cString: strerror(failure)))", isTemporary: true) }
    return try start.wait().get()
  }

  private static func launch(_ settings: CommandSettings, in dataDirectory: String) throws(StartFailure) -> PersistentChild {
    let pipes = try Pipe.make([.writes, .reads, .reads, .reads])
    do throws(StartFailure) {
      let process = try ChildProcess.start(
        settings, for: nil, in: dataDirectory,
        ChildProcess.Streams(input: pipes[0].read, output: pipes[1].write, error: pipes[2].write))
      for descriptor in [pipes[0].read, pipes[1].write, pipes[2].write] { close(descriptor) }
      return PersistentChild(process, input: pipes[0].write, output: pipes[1].read, error: pipes[2].read, control: pipes[3])
    } catch {
      for pipe in pipes { pipe.close() }
      throw error
    }
  }

  // MARK: The keeper

  /// Waits for the child's end, and ends it when it is not needed; then frees everything.
  private func keep(_ idleTime: Duration, _ ended: (PersistentChild) -> Bool) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    defer { buffer.deallocate() }
    var isIdle = false
    var deadline: Int64 = 0
    keeping: while true {
      // What it writes without a run belongs to none.
      var waits = [control.read, process.descriptor, output, error].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      if !isIdle { for place in 1...3 { waits[place].fd = -1 } }
      _ = poll(&waits, nfds_t(waits.count), isIdle ? Int32(clamping: max(0, deadline - Clock.now)) : -1)
      if waits[0].revents != 0 {
        var orders: [Order] = []
        _ = Pipe.drain(control.read, through: buffer, limit: 1) { bytes in orders = bytes.compactMap { Order(rawValue: $0) } }
        if orders.contains(.end) { break keeping }
        isIdle = orders.last.map { $0 == .idle } ?? isIdle
        deadline = Clock.now + Int64(idleTime.components.seconds) * 1_000 + idleTime.components.attoseconds / 1_000_000_000_000_000
        continue
      }
      var isUseless = process.end() != nil || (isIdle && Clock.now >= deadline)
      if waits[2].revents != 0 || waits[3].revents != 0 { isUseless = !dropUnasked(through: buffer) || isUseless }
      if isUseless, ended(self) { break keeping }
    }
    end()
  }

  /// Asks the child to end by the end of its input, then by a signal, and kills it at last.
  private func end() {
    close(input)
    for signal in [SIGTERM, SIGKILL] {
      var wait = pollfd(fd: process.descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&wait, 1, 2_000) > 0 { break }
      process.signal(signal)
    }
    process.reap()
    for descriptor in [output, error] { close(descriptor) }
    control.close()
  }

  /// Hands the started child, or the failure, from the keeper to the run's thread.
  private final class Start: Sendable {
    private let result = Mutex<Result<PersistentChild, StartFailure>?>(nil)
    private let done = Latch()

    func finish(_ value: Result<PersistentChild, StartFailure>) {
      result.withLock { $0 = value }
      done.open()
    }

    func wait() -> Result<PersistentChild, StartFailure> {
      done.wait()
      return result.withLock { $0 } ?? .failure(StartFailure(description: "the process was not started", isTemporary: true))
    }
  }
}
