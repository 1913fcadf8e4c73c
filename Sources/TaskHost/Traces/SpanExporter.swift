import CTaskHostSystem
import Glibc
import HostThreads
import Logging
import RecordJSON
import TaskModel
import TaskScheduler

/// Sends spans to a collector of OpenTelemetry, from a thread of its own. Each message is sent by `taskhost-notify`, in a process of its own:
/// neither TLS nor what a collector answers is in the host's memory. Best effort; every method but ``stop()`` returns at once.
final class SpanExporter: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private let sampling: TraceSampling
  private let message: SpanMessage
  private let redaction: PayloadRedaction
  private let command: NoticeCommand
  private let environment: [String]
  private let monitor = Monitor()
  private var queue = SpanQueue()
  private var isOver = false
  private var isLive = true
  /// What was logged last; nil once spans are delivered.
  private var toldTrouble: Trouble?
  private let stopper: Int32
  private let log: Logger

  private enum Trouble { case refused, delayed }

  /// How long spans are collected for one message.
  private static let collecting = Duration.seconds(1)
  /// How long the last messages may take when the host ends.
  private static let flushing = Duration.seconds(5)
  /// Seconds before the next attempt, of which a fifth is random; the last one again and again.
  private static let delays: [Int64] = [1, 2, 4, 8, 16, 32, 60]
  /// A collector may ask for no longer pause.
  private static let longestPause = Duration.seconds(600)

  /// - Returns: nil if the configuration names no collector.
  init?(_ configuration: HostConfiguration, log: Logger) throws(HostFailure) {
    guard let url = configuration.traces.url else { return nil }
    sampling = TraceSampling(part: configuration.traces.sample)
    redaction = PayloadRedaction(configuration.redact)
    message = SpanMessage(serviceName: configuration.traces.serviceName, hostName: configuration.hostName, processID: getpid())
    command = NoticeCommand(patience: 20_000, words: [HostConfiguration.notifyProgram, "traces"])
    environment =
      ["TASKHOST_TRACES_URL=\(url)"] + (configuration.traces.headersFile.map { ["TASKHOST_TRACES_HEADERS_FILE=\($0)"] } ?? [])
    self.log = log
    stopper = taskhost_system_event_create()
    guard stopper >= 0 else { throw HostFailure(.temporary, "traces: eventfd: \(ErrorNumber.last)") }
    do { try HostThread.start("traces") { [self] in run() } } catch {
      close(stopper)
      throw HostFailure(.temporary, "traces: \(error)")
    }
  }

  // MARK: What is told

  /// A request was submitted.
  func note(submitted request: SubmittedRequest) {
    let place = request.traceparent?.submission(of: request.id) ?? sampling.root(of: request.id)
    guard place.isSampled else { return }
    add([.submission(of: request.id, request.identifier, at: request.time, place: place, caller: request.traceparent)])
  }

  /// A run has ended.
  func note(_ run: RunRecord) {
    guard let trace = run.report.trace, trace.current.isSampled else { return }
    add(Span.spans(of: run, trace) + Span.inner(run, trace, redaction))
  }

  private func add(_ spans: [Span]) {
    monitor.locked {
      guard !isOver else { return }
      let wasQuiet = queue.isEmpty
      queue.add(spans)
      if wasQuiet || queue.hasFullMessage { monitor.broadcast() }
    }
  }

  /// What became of the spans so far.
  var counts: SpanCounts { monitor.locked { queue.counts } }

  /// Sends what waits, for a few seconds at most, and ends the thread.
  func stop() {
    let end = SystemClock.now + Self.flushing
    monitor.locked {
      isOver = true
      monitor.broadcast()
      while isLive, monitor.wait(until: end) {}
    }
    taskhost_system_event_set(stopper)
    monitor.locked { while isLive { monitor.wait() } }
    close(stopper)
  }

  // MARK: The thread

  private func run() {
    while let spans = next() { deliver(spans) }
    monitor.locked {
      queue.dropAll()
      isLive = false
      monitor.broadcast()
    }
  }

  /// The next message's spans; nil once there are none and the host ends.
  private func next() -> [Span]? {
    monitor.locked {
      while queue.isEmpty {
        guard !isOver else { return nil }
        monitor.wait()
      }
      let end = SystemClock.now + Self.collecting
      while !queue.hasFullMessage, !isOver, monitor.wait(until: end) {}
      return queue.take()
    }
  }

  /// Sends a message until the collector has taken or refused it. When the host ends, there is one more attempt.
  private func deliver(_ spans: [Span]) {
    let bytes = message.bytes(spans)
    var attempt = 0
    while true {
      let isLast = monitor.locked { isOver }
      let end = send(bytes, count: spans.count)
      switch end {
      case .taken(let refused, let reason):
        monitor.locked { queue.settle(exported: spans.count - refused, dropped: refused) }
        tell(refused > 0 ? .refused : nil, "the collector refuses \(refused) spans\(reason.isEmpty ? "" : ": \(reason)")")
        return
      case .refused(let reason):
        monitor.locked { queue.settle(exported: 0, dropped: spans.count) }
        tell(.refused, "spans were dropped: \(reason)")
        return
      case .later(let reason, let pause):
        tell(.delayed, "spans are not delivered, and tried again: \(reason)")
        guard !isLast else { return giveUp(spans) }
        wait(for: pause ?? Self.delay(attempt))
        attempt += 1
      }
    }
  }

  /// What waits would find the same collector.
  private func giveUp(_ spans: [Span]) {
    monitor.locked {
      queue.settle(exported: 0, dropped: spans.count)
      queue.dropAll()
    }
  }

  private func send(_ bytes: [UInt8], count: Int) -> SpanDelivery {
    do throws(NoticeCommand.Failure) {
      let answer = try command.exchange(bytes, environment: environment, stopper: stopper)
      return SpanDelivery(code: answer.code, output: answer.output, count: count)
    } catch { return .later(error.description, pause: nil) }
  }

  /// Waits, or until the host ends.
  private func wait(for pause: Duration) {
    let end = SystemClock.now + min(pause, Self.longestPause)
    monitor.locked { while !isOver, monitor.wait(until: end) {} }
  }

  private static func delay(_ attempt: Int) -> Duration {
    .milliseconds(delays[min(attempt, delays.count - 1)] * Int64.random(in: 900...1100))
  }

  /// Logs the first of several troubles of a kind. The collector's address may be a secret; its answer may not.
  ///
  /// - Parameter trouble: nil if spans were delivered.
  private func tell(_ trouble: Trouble?, _ words: String) {
    let isNew = monitor.locked {
      defer { toldTrouble = trouble }
      return toldTrouble != trouble
    }
    guard isNew else { return }
    if trouble == nil { log.notice("traces: spans are delivered again") } else { log.warning("traces: \(words)") }
  }
}
