import CTaskHostSystem
import Glibc
import HostThreads
import Logging
import TaskModel

/// Tells monitors of schedules, such as healthchecks.io, how runs go. Best effort, from memory. Every method returns at once.
final class Pinger: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private let urls: [TaskIdentifier: String]
  private let command: NoticeCommand
  private let monitor = Monitor()
  private var queue = PingQueue()
  private var sent = 0
  private var failed = 0
  private var isOver = false
  private var live = 0
  private var troubled: Set<String> = []
  private let stopper: Int32
  private let log: Logger
  /// How many monitors are asked at a time: one that does not answer holds up the others only if there are many such.
  private static let threads = 4

  /// - Returns: nil if no monitor is told anything.
  init?(_ configuration: HostConfiguration, log: Logger) throws(HostFailure) {
    urls = configuration.pings
    guard !urls.isEmpty else { return nil }
    // Three attempts of 8 s, and the time between them.
    command = NoticeCommand(patience: 40_000, words: [HostConfiguration.notifyProgram, "ping"])
    self.log = log
    stopper = taskhost_system_event_create()
    guard stopper >= 0 else { throw HostFailure(.temporary, "pings: eventfd: \(ErrorNumber.last)") }
    for _ in 0..<min(Self.threads, urls.count) {
      do { try HostThread.start("pings") { [self] in run() } } catch {
        stop()
        throw HostFailure(.temporary, "pings: \(error)")
      }
      monitor.locked { live += 1 }
    }
  }

  /// A run was handed out.
  func note(began run: RunReference) { add("start", run.identifier, run.run, "") }

  /// A run has ended.
  func note(_ record: RunRecord) {
    guard record.outcome?.isSuccess == true else { return }
    add("success", record.identifier, record.id, record.report.message ?? "")
  }

  /// A request has failed for good.
  func note(_ incident: Incident) {
    guard incident.kind == .failed, let run = incident.run else { return }
    add("fail", incident.identifier, run, incident.message ?? "")
  }

  private func add(_ signal: String, _ identifier: TaskIdentifier, _ run: RunID, _ message: String) {
    guard let url = urls[identifier] else { return }
    monitor.locked {
      queue.add(PingQueue.Entry(url: url, signal: signal, run: run.description, message: message))
      monitor.broadcast()
    }
  }

  private func run() {
    while let entry = next() {
      let environment = ["TASKHOST_NOTIFY_URL=\(entry.url)", "TASKHOST_NOTIFY_SIGNAL=\(entry.signal)", "TASKHOST_RUN=\(entry.run)"]
      var trouble: String?
      do throws(NoticeCommand.Failure) { try command.run(Array(entry.message.utf8), environment: environment, stopper: stopper) } catch {
        trouble = error.description
      }
      finish(entry, trouble)
    }
    monitor.locked {
      live -= 1
      monitor.broadcast()
    }
  }

  private func finish(_ entry: PingQueue.Entry, _ trouble: String?) {
    // The same trouble is logged once until it is over. The address may be a secret.
    let isNew = monitor.locked {
      queue.finish(entry)
      monitor.broadcast()
      guard trouble != nil else {
        sent += 1
        return troubled.remove(entry.url) != nil
      }
      failed += 1
      return !isOver && troubled.insert(entry.url).inserted
    }
    guard isNew else { return }
    let names = urls.filter { $0.value == entry.url }.map(\.key.rawValue).sorted().joined(separator: ", ")
    if let trouble {
      log.warning("a ping of \(names) was not delivered: \(trouble)")
    } else {
      log.notice("pings of \(names) are delivered again")
    }
  }

  private func next() -> PingQueue.Entry? {
    monitor.locked {
      while !isOver {
        if let entry = queue.next() { return entry }
        monitor.wait()
      }
      return nil
    }
  }

  /// The pings so far, by what became of them.
  var counts: [String: Int] { monitor.locked { ["delivered": sent, "failed": failed, "dropped": queue.dropped] } }

  /// Ends the threads, and pings in progress; what waits is not sent.
  func stop() {
    taskhost_system_event_set(stopper)
    monitor.locked {
      isOver = true
      monitor.broadcast()
      while live > 0 { monitor.wait() }
    }
    close(stopper)
  }
}
