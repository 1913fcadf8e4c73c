import DequeModule
import HostThreads
import TaskModel
import WorkerLink

/// What this worker sends to its host: from any thread, in order, as many ends of runs in a message as wait for it.
///
/// Whoever finds nobody sending sends, and goes on with what others leave behind meanwhile: a lone message needs no hand-over, and many
/// need few messages.
final class HostLink: Sendable {
  private enum Item {
    case ending(WireEnding)
    case message(WorkerMessage)
    case progress(RunID)
  }

  private let socket: LinkSocket
  private let state = Guarded(State())

  private struct State {
    var queue = Deque<Item>()
    /// The latest of each run whose progress waits in the queue.
    var progress: [RunID: RunProgress] = [:]
    var linesWaiting = 0
    var droppedLines: UInt64 = 0
    var isSending = false

    /// All that waits, as messages.
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
          // Its last progress goes with it.
          progress.removeValue(forKey: ending.run)
          endings.append(ending)
        case .progress(let run):
          guard let latest = progress.removeValue(forKey: run) else { continue }
          endBatch()
          messages.append(.progress(run, latest))
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

  /// The next message of the host; the end of the link ends the process.
  func receive() -> HostMessage {
    do throws(LinkError) {
      guard let received = try socket.receive(wait: true) else { Worker.leave(0) }
      return try HostMessage(decoding: received)
    } catch {
      if case .closed = error { Worker.leave(0) }
      Worker.give(up: "the link to the host broke: \(error)")
    }
  }

  func send(_ message: WorkerMessage) { add(.message(message)) }

  func send(_ ending: WireEnding) { add(.ending(ending)) }

  /// Progress that has not been sent yet is overtaken by newer.
  func send(_ progress: RunProgress, of run: RunID) {
    let waits = state.withLock { $0.progress.updateValue(progress, forKey: run) != nil }
    if !waits { add(.progress(run)) }
  }

  /// Lines may be dropped, and are counted.
  func send(_ line: LogLine, of run: RunID?) {
    let isTaken = state.withLock { state in
      // The host is slower than the plugin talks.
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
      do { _ = try socket.send(message.encode(), wait: true) } catch {
        if case .tooBig = error { continue }
        Worker.leave(0)
      }
    }
  }
}
