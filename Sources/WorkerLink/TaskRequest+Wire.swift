import TaskModel

extension TaskRequest: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(identifier)
    writer.blob(payload)
    writer.optional(earliestBegin)
    writer.flag(isPaced)
    writer.integer(conditions.rawValue)
    writer.integer(Int8(clamping: priority))
    writer.optional(uniqueKey) { $0.text($1) }
    writer.write(onConflict)
    writer.optional(retry)
    writer.optional(repetition?.interval)
    writer.list(tags) { $0.text($1) }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let identifier = try reader.identifier("a request's identifier")
    let payload = try reader.blob("a request's payload", atMost: Limits.payloadBytes)
    let earliestBegin = try reader.optional("earliest begin") { (reader) throws(LinkError) in try reader.moment("earliest begin") }
    let isPaced = try reader.flag("whether it is paced")
    self.init(
      identifier: identifier, payload: payload, earliestBegin: earliestBegin,
      conditions: try reader.read(Conditions.self, "conditions"),
      priority: try Self.priority(&reader),
      uniqueKey: try reader.optional("unique key", Self.key),
      onConflict: try reader.read(ConflictPolicy.self, "conflict policy"),
      retry: try reader.optional(RetryPolicy.self, "retry policy"),
      repetition: try reader.optional(Duration.self, "repetition").map(RepeatRule.init(every:)),
      tags: try reader.list("tags", atMost: Limits.tags, Self.key))
    self.isPaced = isPaced
  }

  private static func priority(_ reader: inout MessageReader) throws(LinkError) -> Int {
    let priority = Int(try reader.integer(Int8.self, "priority"))
    guard Limits.priorities.contains(priority) else { throw .malformed(what: "priority is \(priority)") }
    return priority
  }

  private static func key(_ reader: inout MessageReader) throws(LinkError) -> String {
    try reader.text("a key or tag", atLeast: 1, atMost: Limits.keyBytes)
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

extension RetryPolicy: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.number(attempts)
    writer.write(backoff)
    writer.write(initial)
    writer.write(maximum)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      attempts: try reader.number("attempts", in: Limits.attempts),
      backoff: try reader.read(Backoff.self, "backoff"),
      initial: try reader.read(Duration.self, "first delay"),
      maximum: try reader.read(Duration.self, "longest delay"))
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
