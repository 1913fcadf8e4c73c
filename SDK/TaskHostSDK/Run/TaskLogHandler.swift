import Logging

/// Forwards a run's log lines to the host, with the metadata appended as `key=value`, sorted by key.
///
/// The host has its own threshold, so all levels pass unless the author sets one.
struct TaskLogHandler: LogHandler {
  let run: RunHandle
  var logLevel = Logger.Level.trace
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?

  init(_ run: RunHandle) {
    self.run = run
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var line = event.message.description
    var all = metadata
    if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
    if let given = event.metadata { all.merge(given) { $1 } }
    if let error = event.error { all["error"] = .string(String(describing: error)) }
    for (key, value) in all.sorted(by: { $0.key < $1.key }) {
      line += " \(key)=\(Self.quoted(value.description))"
    }
    _ = CStrings.printable(line).withCString { run.functions.pointee.log(run.task, event.level.cValue, $0) }
  }

  /// Quotes a value that would not read as one word.
  private static func quoted(_ value: String) -> String {
    guard value.isEmpty || value.contains(where: { $0.isWhitespace || $0 == "\"" || $0 == "=" }) else { return value }
    let escaped = value.reduce(into: "") { text, character in
      if character == "\"" || character == "\\" { text.append("\\") }
      text.append(character)
    }
    return "\"\(escaped)\""
  }
}
