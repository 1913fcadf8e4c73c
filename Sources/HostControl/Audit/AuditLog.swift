import Glibc
import HostThreads
import Logging
import TaskModel

/// Writes the audit on a thread of its own. An answer waits until its line is written, so that what a client knows to be done is in the file even
/// if the host is killed then. Lines are synced a second later at most: a power failure can lose those of the last second.
final class AuditLog: Sendable {
  private struct Waiting {
    let entry: AuditEntry
    let name: String
    let written: CheckedContinuation<Void, Never>
  }

  private struct State {
    var queue: [Waiting] = []
    var isRunning = false
    var isOver = false
  }

  private static let interval = Duration.seconds(1)

  let files: AuditFiles
  private let logger: Logger
  private let state = Guarded(State())
  private let reading = JobDesk<String>("audit-read", mostWaiting: 32, mostOfOne: 32)

  /// - Parameter directory: Where the files are; it must exist when the first change is recorded.
  init(in directory: String, logger: Logger) { (files, self.logger) = (AuditFiles(in: directory), logger) }

  /// Returns once the entry is written, or cannot be, which the log says: the change has been made already.
  func record(_ entry: AuditEntry) async {
    let name = await entry.principal.name()
    await withCheckedContinuation { written in
      let starts = state.withLock { state in
        state.queue.append(Waiting(entry: entry, name: name, written: written))
        defer { state.isRunning = true }
        return !state.isRunning
      }
      guard starts else { return state.signal() }
      do throws(HostThread.Failure) { try HostThread.start("audit") { [self] in run() } } catch {
        logger.error("changes are not recorded in the audit: \(error)")
        let left = state.withLock { state in
          state.isRunning = false
          defer { state.queue = [] }
          return state.queue
        }
        for waiting in left { waiting.written.resume() }
      }
    }
  }

  /// Ends the thread once everything is written.
  func finish() {
    state.withLock { $0.isOver = true }
    state.signal()
  }

  /// The lines after a number, oldest first.
  func read(after last: Int64, since: WallTime?, limit: Int) async throws(RequestRefusal) -> [(number: Int64, line: [UInt8])] {
    try await read { files throws(ErrorNumber) in try files.read(after: last, since: since, limit: limit) }
  }

  /// The lines before a number, or the last ones, newest first.
  func read(before number: Int64?, since: WallTime?, limit: Int) async throws(RequestRefusal) -> [(number: Int64, line: [UInt8])] {
    try await read { files throws(ErrorNumber) in try files.read(before: number ?? .max, since: since, limit: limit) }
  }

  private typealias Lines = [(number: Int64, line: [UInt8])]

  private func read(_ body: @escaping @Sendable (AuditFiles) throws(ErrorNumber) -> Lines) async throws(RequestRefusal) -> Lines {
    let files = files
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Lines, RequestRefusal>, Never>) in
      let isTaken = reading.take(from: "") {
        continuation.resume(
          returning: Result { () throws(RequestRefusal) in
            do { return try body(files) } catch { throw RequestRefusal(.unavailable, "the audit cannot be read: \(error)") }
          })
        return .zero
      } failed: { error in
        continuation.resume(returning: .failure(RequestRefusal(.unavailable, "\(error)")))
      }
      if !isTaken {
        continuation.resume(returning: .failure(RequestRefusal(.unavailable, "too many clients read the audit: try again in a second")))
      }
    }
    return try result.get()
  }

  // MARK: The thread

  private func run() {
    var writer = AuditWriter(files, logger)
    while true {
      let next: [Waiting]? = state.wait(until: writer.syncDue) { state -> [Waiting]? in
        guard state.queue.isEmpty else {
          defer { state.queue = [] }
          return state.queue
        }
        guard state.isOver else { return nil }
        state.isRunning = false
        return []
      }
      guard let batch = next else {
        writer.sync()
        continue
      }
      if batch.isEmpty { break }
      writer.write(batch.map { ($0.entry, $0.name) }, syncWithin: Self.interval)
      for waiting in batch { waiting.written.resume() }
    }
    writer.close()
  }
}

/// Numbers lines and appends them, for the audit's thread.
private struct AuditWriter {
  private let files: AuditFiles
  private let logger: Logger
  private var open: (descriptor: Int32, bytes: Int, last: Int64)?
  /// The number of the last line, also of a file that has gone.
  private var last: Int64 = 0
  private var hasFailed = false
  /// When what was written is to be synced.
  private(set) var syncDue = MonotonicTime.distantFuture

  init(_ files: AuditFiles, _ logger: Logger) { (self.files, self.logger) = (files, logger) }

  mutating func write(_ entries: [(AuditEntry, name: String)], syncWithin interval: Duration) {
    do {
      if let open, !files.isNewest(open.descriptor) {
        close()
        logger.warning("another program has moved or removed audit.jsonl: changes are recorded in a new one")
      }
      var (descriptor, bytes, found) = try open ?? files.open()
      open = (descriptor, bytes, found)
      if bytes >= AuditFiles.mostBytes {
        close()
        try files.rotate()
        (descriptor, bytes, found) = try files.open()
      }
      last = max(last, found)
      var lines: [UInt8] = []
      for (entry, name) in entries {
        last += 1
        lines += entry.line(number: last, by: name)
      }
      open = (descriptor, bytes + lines.count, last)
      try WholeTransfer.write(lines, to: descriptor)
      if syncDue == .distantFuture { syncDue = SystemClock.now + interval }
      if hasFailed { logger.notice("changes are recorded in the audit again") }
      hasFailed = false
    } catch {
      // Opened again the next time: what was written of the lines is then ended.
      close()
      if !hasFailed {
        logger.error("changes are not recorded in the audit: \(error): free some space, or check the state directory's mode")
      }
      hasFailed = true
    }
  }

  mutating func sync() {
    if let open { fdatasync(open.descriptor) }
    syncDue = .distantFuture
  }

  mutating func close() {
    sync()
    if let open { Glibc.close(open.descriptor) }
    open = nil
  }
}
