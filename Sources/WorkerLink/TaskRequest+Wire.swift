import TaskModel

/// The fields that a plugin can set with `taskhost.h`, and no others: the rest is for the operator and clients, and no code in a worker can
/// express it.
extension TaskRequest: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(identifier)
    writer.blob(payload)
    writer.optional(earliestBegin)
    writer.flag(isPaced)
    writer.integer(conditions.rawValue)
    writer.optional(uniqueKey) { $0.text($1) }
    writer.write(onConflict)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let identifier = try reader.identifier("a request's identifier")
    // Bounded by the message's size; the request's own limits are checked below.
    let payload = try reader.blob("a request's payload", atMost: LinkFormat.messageBytes)
    let earliestBegin = try reader.optional(WallTime.self, "earliest begin")
    let isPaced = try reader.flag("whether it is paced")
    self.init(
      identifier: identifier, payload: payload, earliestBegin: earliestBegin,
      conditions: try reader.read(Conditions.self, "conditions"),
      uniqueKey: try reader.optional("unique key") { (reader) throws(LinkError) in
        try reader.text("unique key", atMost: LinkFormat.messageBytes)
      },
      onConflict: try reader.read(ConflictPolicy.self, "conflict policy"))
    self.isPaced = isPaced
    do throws(RequestRefusal) { try check() } catch { throw .malformed(what: error.message) }
  }
}

extension Conditions: WireValue {
  func write(to writer: inout MessageWriter) { writer.integer(rawValue) }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let bits = try reader.integer(UInt32.self, what)
    guard Conditions.all.isSuperset(of: Conditions(rawValue: bits)) else { throw .malformed(what: "\(what) has bits that are not defined") }
    self.init(rawValue: bits)
  }
}

extension Submission: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(id)
    writer.write(disposition)
    writer.write(nextStart)
    writer.sentences(notes)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      id: try reader.read(RequestID.self, "a submission's request"),
      disposition: try reader.read(Disposition.self, "disposition"),
      nextStart: try reader.read(WallTime.self, "next start"),
      notes: try reader.sentences("notes"))
  }
}
