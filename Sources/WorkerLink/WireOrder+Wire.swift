import TaskModel

extension WireOrder: WireValue {
  /// Upper bound of its size in bytes.
  var wireBytes: Int { (trace == nil ? 68 : 68 + 2 * 60) + identifier.rawValue.utf8.count + payload.count + (arguments?.count ?? 0) }

  func write(to writer: inout MessageWriter) {
    writer.write(run)
    writer.write(request)
    writer.write(identifier)
    writer.number(attempt)
    writer.blob(payload)
    writer.optional(arguments) { $0.blob($1) }
    writer.flag(tellsBegin)
    writer.optional(notBefore) { $0.integer($1.nanoseconds) }
    writer.optional(trace)
    writer.optional(fencingToken) { $0.integer($1) }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      run: try reader.read(RunID.self, "an order's run"),
      request: try reader.read(RequestID.self, "an order's request"),
      identifier: try reader.identifier("an order's identifier"),
      attempt: try reader.number("attempt", in: 1...Int.max),
      payload: try reader.blob("payload", atMost: Limits.payloadBytes),
      arguments: try reader.optional("arguments") { (reader) throws(LinkError) in
        try reader.blob("arguments", atMost: Limits.argumentBytes)
      },
      tellsBegin: try reader.flag("whether an order tells of its begin"),
      notBefore: try reader.optional("an order's time") { (reader) throws(LinkError) in
        MonotonicTime(nanoseconds: try reader.integer(Int64.self, "an order's time"))
      },
      trace: try reader.optional(RunTrace.self, "an order's trace"),
      fencingToken: try reader.optional("a fencing token") { (reader) throws(LinkError) in
        try reader.integer(Int64.self, "a fencing token")
      })
  }
}

extension RunTrace: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(current)
    writer.optional(link)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      current: try reader.read(TraceParent.self, "a run's trace"), link: try reader.optional(TraceParent.self, "the trace of a submission"))
  }
}

extension TraceParent: WireValue {
  func write(to writer: inout MessageWriter) { writer.text(description) }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let text = try reader.text(what, atMost: TraceParent.textBytes)
    // One encoding of each value: the text as it is written.
    guard let parent = TraceParent(text), parent.description == text else { throw .malformed(what: "\(what) is not a traceparent") }
    self = parent
  }
}
