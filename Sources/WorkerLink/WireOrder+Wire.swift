import TaskModel

extension WireOrder: WireValue {
  /// Upper bound of its size in bytes.
  var wireBytes: Int { 58 + identifier.rawValue.utf8.count + payload.count + (arguments?.count ?? 0) }

  func write(to writer: inout MessageWriter) {
    writer.write(run)
    writer.write(request)
    writer.write(identifier)
    writer.number(attempt)
    writer.blob(payload)
    writer.optional(arguments) { $0.blob($1) }
    writer.flag(tellsBegin)
    writer.optional(notBefore) { $0.integer($1.nanoseconds) }
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
      })
  }
}
