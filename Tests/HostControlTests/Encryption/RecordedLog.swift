import Logging
import Synchronization

/// Keeps the lines of a log for a test.
final class RecordedLog: Sendable {
  private let kept = Mutex<[String]>([])

  /// The lines so far, with their metadata.
  var lines: [String] { kept.withLock { $0 } }

  /// A logger that writes here.
  var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: RecordedLog
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()

    init(log: RecordedLog) { self.log = log }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      log.kept.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
    }
  }
}
