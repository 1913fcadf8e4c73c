import Logging
import ServiceLifecycle
import TaskHost
import TaskModel

/// The host as a service: runs until a signal or `taskhost shutdown` asks it to end, then drains. The group ends with it.
///
/// The first SIGTERM or SIGINT drains; the second stops live runs by force. SIGHUP, SIGUSR1 and SIGUSR2 are ignored.
struct HostService: Service {
  private let host: Host
  private let log: Logger
  private let writer: LogWriter
  private let signals: AsyncStream<String>

  /// - Parameters:
  ///   - signals: The names of signals, collected since before the launch, so that one that arrived meanwhile drains the host at once.
  ///   - writer: Writes messages for a person at the terminal.
  init(host: Host, signals: AsyncStream<String>, log: Logger, writer: LogWriter) {
    self.host = host
    self.signals = signals
    self.log = log
    self.writer = writer
  }

  func run() async {
    await withTaskGroup(of: Void.self) { tasks in
      tasks.addTask { await heed(signals) }
      tasks.addTask {
        // Also ends if the group is cancelled because the server has failed.
        for await _ in host.shutdownRequest {}
        await host.drain()
      }
      // The signals never end by themselves, so the drain ends first.
      await tasks.next()
      tasks.cancelAll()
    }
  }

  private func heed(_ signals: AsyncStream<String>) async {
    var count = 0
    for await signal in signals {
      guard signal == "SIGTERM" || signal == "SIGINT" else {
        let reason = signal == "SIGHUP" ? ": this version does not reload its configuration; restart the host to apply changes" : ""
        log.notice("\(signal) is ignored\(reason)")
        continue
      }
      count += 1
      if count == 1 {
        log.notice("\(signal): shutting down")
        if Terminal.errorIsTerminal { await sayWhatRuns() }
        host.shutdown()
      } else {
        host.forceDrain()
      }
    }
    // Here the task was cancelled, because the drain has ended.
  }

  /// Tells a person at the terminal what the host waits for.
  private func sayWhatRuns() async {
    guard let runs = try? await host.runs(.init()).filter({ $0.outcome == nil }), !runs.isEmpty else { return }
    writer.write("waiting for \(runs.map(\.identifier.rawValue).joined(separator: ", ")); press Ctrl-C again to force")
  }
}
