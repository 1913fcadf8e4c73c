import TaskModel

// Texts for people. The writer adapts them to ``PluginText``, so an honest end is never refused because of a text; the reader refuses any
// other text, because only a hostile end sends it.

extension MessageWriter {
  /// A plugin's text: a log line or a message.
  mutating func line(_ text: String) { self.text(PluginText.line(text)) }

  /// taskhost's own sentence, which may quote a plugin.
  mutating func sentence(_ text: String) { self.text(PluginText.line(text, limit: Limits.sentenceBytes)) }

  /// Writes the first ``LinkFormat/sentences`` of a list.
  mutating func sentences(_ texts: [String]) { list(Array(texts.prefix(LinkFormat.sentences))) { $0.sentence($1) } }

  mutating func name(_ name: String?) { optional(name) { $0.text(PluginText.line($1, limit: LinkFormat.nameBytes)) } }

  mutating func stack(_ text: String) { self.text(PluginText.lines(text, limit: Limits.stackBytes)) }
}

extension MessageReader {
  mutating func line(_ what: StaticString) throws(LinkError) -> String { try line(what, limit: Limits.logMessageBytes) }

  mutating func sentence(_ what: StaticString) throws(LinkError) -> String { try line(what, limit: Limits.sentenceBytes) }

  mutating func sentences(_ what: StaticString) throws(LinkError) -> [String] {
    try list(what, atMost: LinkFormat.sentences) { (reader) throws(LinkError) in try reader.sentence(what) }
  }

  mutating func name(_ what: StaticString) throws(LinkError) -> String? {
    try optional(what) { (reader) throws(LinkError) in try reader.line(what, limit: LinkFormat.nameBytes) }
  }

  mutating func stack(_ what: StaticString) throws(LinkError) -> String {
    let text = try text(what, atMost: PluginText.longest(Limits.stackBytes))
    return try clean(text, PluginText.lines(text, limit: Limits.stackBytes), what)
  }

  mutating func line(_ what: StaticString, limit: Int) throws(LinkError) -> String {
    let text = try text(what, atMost: PluginText.longest(limit))
    return try clean(text, PluginText.line(text, limit: limit), what)
  }

  private func clean(_ text: String, _ expected: String, _ what: StaticString) throws(LinkError) -> String {
    guard text.utf8.elementsEqual(expected.utf8) else { throw .malformed(what: "\(what) is neither escaped nor cut") }
    return text
  }
}

extension LogLine: WireValue {
  /// Writes all but the stream: a process's output does not travel on its link.
  func write(to writer: inout MessageWriter) {
    writer.write(time)
    writer.write(level)
    writer.line(message)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      time: try reader.moment("a line's time"),
      level: try reader.read(Level.self, "a line's level"),
      message: try reader.line("a line's text"))
  }
}

extension CallFailure: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(status)
    writer.sentence(message)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(try reader.read(Status.self, "status"), try reader.sentence("a failure's message"))
  }
}
