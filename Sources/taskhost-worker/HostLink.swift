import DequeModule
import HostThreads
import TaskModel
import WorkerLink

/// Sends messages to the host, from any thread and in order. One message carries the ends of all runs that are waiting.
///
/// If no other thread is sending, a thread sends its own message and then those that other threads have queued meanwhile. So a single
/// message needs no hand-over, and a burst needs few messages.
final class HostLink: Sendable {
  private enum Item {
    case ending(WireEnding)
    case message(WorkerMessage)
    case progress(RunID)
    case work(RunID)
  }

  private let socket: LinkSocket
  private let state = Guarded(State())

  private struct State {
    var queue = Deque<Item>()
    /// The latest progress of each run with progress in the queue.
    var progress: [RunID: RunProgress] = [:]
    /// The same for the counts of its work.
    var work: [RunID: RunWork] = [:]
    var linesWaiting = 0
    var droppedLines: UInt64 = 0
    var isSending = false

    /// All waiting items, as messages.
    mutating func take() -> [WorkerMessage] {
      var messages: [WorkerMessage] = []
      var endings: [WireEnding] = []
      func endBatch() {
        messages += WorkerMessage.batches(of: endings).map { .ended($0) }
        endings.removeAll(keepingCapacity: true)
      }
      for item in queue {
        switch item {
        case .ending(let ending):
          // The run's last progress and counts are part of its end.
          progress.removeValue(forKey: ending.run)
          work.removeValue(forKey: ending.run)
          endings.append(ending)
        case .progress(let run):
          guard let latest = progress.removeValue(forKey: run) else { continue }
          endBatch()
          messages.append(.progress(run, latest))
        case .work(let run):
          guard let latest = work.removeValue(forKey: run) else { continue }
          endBatch()
          messages.append(.work(run, latest))
        case .message(let message):
          endBatch()
          messages.append(message)
        }
      }
      endBatch()
      queue.removeAll(keepingCapacity: true)
      linesWaiting = 0
      if droppedLines > 0 {
        messages.append(.dropped(lines: droppedLines))
        droppedLines = 0
      }
      return messages
    }
  }

  init(_ socket: LinkSocket) { self.socket = socket }

  /// The host's next message. Ends the process if the link has ended.
  func receive() -> HostMessage {
    do throws(LinkError) {
      return try HostMessage(decoding: try socket.receive())
    } catch {
      if case .closed = error { Worker.leave(0) }
      Worker.give(up: "the link to the host broke: \(error)")
    }
  }

  func send(_ message: WorkerMessage) { add(.message(message)) }

  func send(_ ending: WireEnding) { add(.ending(ending)) }

  /// Sends progress; it replaces earlier progress of the run that has not been sent.
  func send(_ progress: RunProgress, of run: RunID) {
    let waits = state.withLock { $0.progress.updateValue(progress, forKey: run) != nil }
    if !waits { add(.progress(run)) }
  }

  /// Sends the counts of a run's work; they replace earlier ones that have not been sent.
  func send(_ work: RunWork, of run: RunID) {
    let waits = state.withLock { $0.work.updateValue(work, forKey: run) != nil }
    if !waits { add(.work(run)) }
  }

  /// Sends a line, or drops and counts it if too many are waiting.
  func send(_ line: LogLine, of run: RunID?) {
    let isTaken = state.withLock { state in
      // Too many lines wait if the plugin logs faster than the host reads.
      guard state.linesWaiting < LinkFormat.waitingLines else {
        state.droppedLines += 1
        return false
      }
      state.linesWaiting += 1
      return true
    }
    if isTaken { add(.message(.log(run, line))) }
  }

  private func add(_ item: Item) {
    let isSender = state.withLock { state in
      state.queue.append(item)
      defer { state.isSending = true }
      return !state.isSending
    }
    guard isSender else { return }
    while true {
      let messages = state.withLock { state -> [WorkerMessage]? in
        state.isSending = !state.queue.isEmpty
        return state.isSending ? state.take() : nil
      }
      guard let messages else { return }
      transmit(messages)
    }
  }

  private func transmit(_ messages: [WorkerMessage]) {
    for message in messages {
      do { try socket.send(message.encode()) } catch {
        if case .tooBig = error { continue }
        Worker.leave(0)
      }
    }
  }
}
