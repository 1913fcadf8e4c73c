import TaskModel

// Texts for people: the writer cuts what is too long, so that an honest end is never refused for its words.

extension MessageWriter {
  mutating func sentence(_ text: String) { self.text(text, cutTo: LinkFormat.textBytes) }

  /// The first ``LinkFormat/sentences`` of a list.
  mutating func sentences(_ texts: [String]) { list(Array(texts.prefix(LinkFormat.sentences))) { $0.sentence($1) } }

  mutating func name(_ name: String?) { optional(name) { $0.text($1, cutTo: LinkFormat.nameBytes) } }

  mutating func stack(_ text: String) { self.text(text, cutTo: LinkFormat.stackBytes) }
}

extension MessageReader {
  mutating func sentence(_ what: StaticString) throws(LinkError) -> String { try text(what, atMost: LinkFormat.textBytes) }

  mutating func sentences(_ what: StaticString) throws(LinkError) -> [String] {
    try list(what, atMost: LinkFormat.sentences) { (reader) throws(LinkError) in try reader.sentence(what) }
  }

  mutating func name(_ what: StaticString) throws(LinkError) -> String? {
    try optional(what) { (reader) throws(LinkError) in try reader.text(what, atMost: LinkFormat.nameBytes) }
  }

  mutating func stack(_ what: StaticString) throws(LinkError) -> String { try text(what, atMost: LinkFormat.stackBytes) }
}

extension LogLine: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(time)
    writer.write(level)
    writer.sentence(message)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      time: try reader.read(WallTime.self, "a line's time"),
      level: try reader.read(Level.self, "a line's level"),
      message: try reader.sentence("a line's text"))
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
