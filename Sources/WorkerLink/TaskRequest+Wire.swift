import TaskModel

/// The fields that a plugin can set with `taskhost.h`, and no others: what else a request has is for the operator and clients, and no code
/// in a worker can express it.
extension TaskRequest: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(identifier)
    writer.blob(payload)
    writer.optional(earliestBegin)
    writer.flag(isPaced)
    writer.integer(conditions.rawValue)
    writer.optional(uniqueKey) { $0.text($1) }
    writer.write(onConflict)
    writeTimes(to: &writer)
    writer.number(priority)
    writer.optional(retry)
    writer.optional(onLostCondition)
    writer.list(after)
    writer.list(tags) { $0.text($1) }
    writer.list(gates.resources.sorted { $0.key < $1.key }) { writer, resource in
      writer.text(resource.key)
      writer.number(resource.value)
    }
    writer.optional(gates.window) { $0.text($1) }
    writer.optional(gates.concurrencyKey) { $0.text($1) }
    writer.optional(gates.prefer) { $0.text($1) }
    writer.optional(idempotencyKey) { $0.text($1) }
    writer.optional(uniqueWindow)
    writer.optional(traceparent)
  }

  private func writeTimes(to writer: inout MessageWriter) {
    writer.optional(deadline)
    writer.optional(delay)
    writer.write(gates.flex)
    writer.write(jitter)
    writer.optional(repetition)
    writer.optional(event)
    writer.flag(gates.wakes)
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
      uniqueKey: try reader.optionalText("unique key"),
      onConflict: try reader.read(ConflictPolicy.self, "conflict policy"))
    self.isPaced = isPaced
    try readTimes(&reader)
    priority = try reader.number("priority", in: Int.min...Int.max)
    retry = try reader.optional(RetryPolicy.self, "retry policy")
    onLostCondition = try reader.optional(LostConditionPolicy.self, "loss policy")
    gates.onLostCondition = onLostCondition ?? gates.onLostCondition
    after = try reader.list(Dependency.self, "predecessors", atMost: LinkFormat.requestEntries)
    tags = try reader.list("tags", atMost: LinkFormat.requestEntries) { (reader) throws(LinkError) in
      try reader.text("tag", atMost: LinkFormat.messageBytes)
    }
    gates.resources = try Self.resources(&reader)
    gates.window = try reader.optionalText("window")
    gates.concurrencyKey = try reader.optionalText("concurrency key")
    gates.prefer = try reader.optionalText("preference")
    idempotencyKey = try reader.optionalText("idempotency key")
    uniqueWindow = try reader.optional(Duration.self, "unique window")
    traceparent = try reader.optional(TraceParent.self, "a request's traceparent")
    do throws(RequestRefusal) { try check() } catch { throw .malformed(what: error.message) }
  }

  private mutating func readTimes(_ reader: inout MessageReader) throws(LinkError) {
    deadline = try reader.optional(WallTime.self, "deadline")
    delay = try reader.optional(Duration.self, "delay")
    gates.flex = try reader.read(Duration.self, "flex")
    jitter = try reader.read(Duration.self, "jitter")
    repetition = try reader.optional(RepeatRule.self, "repetition")
    event = try reader.optional(EventTrigger.self, "event")
    gates.wakes = try reader.flag("whether it wakes the machine")
  }

  /// In the order of their names, each once: a request has one encoding.
  private static func resources(_ reader: inout MessageReader) throws(LinkError) -> [String: Int] {
    var last: String?
    let resources = try reader.list("resources", atMost: LinkFormat.requestEntries) { (reader) throws(LinkError) in
      let name = try reader.text("resource", atMost: LinkFormat.messageBytes)
      if let last, last >= name { throw .malformed(what: "resources are not in order") }
      last = name
      return (name, try reader.number("tokens", in: Int.min...Int.max))
    }
    return Dictionary(uniqueKeysWithValues: resources)
  }
}

extension MessageReader {
  /// A text whose limit is checked with the request that it belongs to.
  fileprivate mutating func optionalText(_ what: StaticString) throws(LinkError) -> String? {
    try optional(what) { (reader) throws(LinkError) in try reader.text(what, atMost: LinkFormat.messageBytes) }
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
