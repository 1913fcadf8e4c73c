import TaskModel

/// A value with an encoding in messages.
protocol WireValue {
  func write(to writer: inout MessageWriter)
  /// Reads the value; `what` names the field where the type alone does not.
  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError)
}

extension RecordID: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.integer(UInt64(bitPattern: sequence))
    writer.integer(origin)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let sequence = try reader.integer(UInt64.self, what)
    let origin = try reader.integer(UInt64.self, what)
    guard sequence >> 60 == 0, origin >> 62 == 0 else { throw .malformed(what: "\(what) has bits beyond those of an id") }
    self.init(sequence: Int64(sequence), origin: origin)
  }
}

extension TaskIdentifier: WireValue {
  func write(to writer: inout MessageWriter) { writer.identifier(self) }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) { self = try reader.identifier(what) }
}

extension Duration: WireValue {
  /// Whole nanoseconds from 0 to 292 years; durations beyond are clamped.
  func write(to writer: inout MessageWriter) {
    // A 64-bit division is enough up to 18 seconds, which covers nearly every duration of a run.
    if let short = UInt64(exactly: attoseconds) { return writer.integer(Int64(short / 1_000_000_000)) }
    writer.integer(max(0, wholeNanoseconds))
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let value = try reader.integer(Int64.self, what)
    guard value >= 0 else { throw .malformed(what: "\(what) is negative") }
    self = .nanoseconds(value)
  }
}

extension WallTime: WireValue {
  func write(to writer: inout MessageWriter) { writer.integer(unixMilliseconds) }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(unixMilliseconds: try reader.integer(Int64.self, what))
  }
}
