import CalendarTime
import Glibc
import HostThreads
import Logging
import StrictText
import TaskHost
import TaskModel

/// The host's log on standard error: one line per event, as text at a terminal, as entries with fields in systemd's journal, and as JSON
/// elsewhere. Logging never waits for a reader.
struct HostLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level
  private let format: Format
  private let writer: LogWriter

  enum Format { case text(colours: Bool), json, journal }

  /// Opens the logger that the configuration selects, and the writer of its lines.
  ///
  /// - Throws: If the system cannot start a thread.
  static func open(_ configuration: HostConfiguration.Log) throws(HostThread.Failure) -> (logger: Logger, writer: LogWriter) {
    let atTerminal = isatty(STDERR_FILENO) == 1
    let journal = configuration.format == .auto ? JournalSink.behindStandardError(stream: variable("JOURNAL_STREAM")) : nil
    let format: Format =
      switch configuration.format {
      case .auto where journal != nil: .journal
      case .auto: atTerminal ? .text(colours: variable("NO_COLOR")?.isEmpty ?? true) : .json
      case .text: .text(colours: false)
      case .json: .json
      }
    let writer = try LogWriter(journal ?? DescriptorSink(descriptor: STDERR_FILENO)) { lines in
      Array((line(format, .warning, "\(lines) lines were dropped: the log was not read or could not be written", []) + "\n").utf8)
    }
    return (Logger(label: "taskhost") { _ in HostLog(logLevel: configuration.level, format: format, writer: writer) }, writer)
  }

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = event.metadata.map { metadata.merging($0) { $1 } } ?? metadata
    // Names, reasons and errors come from plugins and clients: whoever logs them need not think of it.
    let message = "\(event.message)".escapingControlCharacters
    let fields = all.map { ($0, "\($1)".escapingControlCharacters) }.sorted { $0.0 < $1.0 }
    writer.write(Self.line(format, event.level, message, fields))
  }

  static func line(_ format: Format, _ level: Logger.Level, _ message: String, _ fields: [(String, String)]) -> String {
    switch format {
    case .text(let colours): text(level, message, fields, colours: colours)
    case .json: json(level, message, fields)
    case .journal: journal(level, message, fields)
    }
  }

  /// An entry of the journal: readable text, and a field `TASKHOST_…` for each value, as in `journalctl TASKHOST_RUN=…`.
  private static func journal(_ level: Logger.Level, _ message: String, _ fields: [(String, String)]) -> String {
    let priority =
      switch level {
      case .critical: 2
      case .error: 3
      case .warning: 4
      case .notice: 5
      case .info: 6
      case .debug, .trace: 7
      }
    let text = fields.map { " \($0)=\($1)" }.joined()
    let named = fields.map { name, value in
      let letters = name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
      return "TASKHOST_\(String(letters))=\(value)"
    }
    return (["MESSAGE=\(message)\(text)", "PRIORITY=\(priority)", "SYSLOG_IDENTIFIER=taskhost"] + named).joined(
      separator: String(JournalSink.separator))
  }

  private static func text(_ level: Logger.Level, _ message: String, _ fields: [(String, String)], colours: Bool) -> String {
    let fields = fields.map { " \($0)=\($1)" }.joined()
    let name = level.rawValue + String(repeating: " ", count: max(0, 8 - level.rawValue.count))
    guard colours else { return "\(time()) \(name) \(message)\(fields)" }
    let colour: Colour =
      switch level {
      case .critical, .error: .red
      case .warning: .yellow
      case .notice: .cyan
      case .info: .green
      case .debug, .trace: .grey
      }
    return "\(Colour.grey.paint(time())) \(colour.paint(name)) \(message)\(Colour.grey.paint(fields))"
  }

  private static func json(_ level: Logger.Level, _ message: String, _ fields: [(String, String)]) -> String {
    let bytes = JSONWriter.object { writer in
      writer.member("time", time())
      writer.member("level", level.rawValue)
      writer.member("message", message)
      for (key, value) in fields { writer.member(key, value) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func time() -> String { RFC3339.format(SystemClock().wallTime) ?? "" }
}
