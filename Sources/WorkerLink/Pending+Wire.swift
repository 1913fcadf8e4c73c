import TaskModel

extension LaunchChange: WireValue {
  func write(to writer: inout MessageWriter) {
    switch self {
    case .submit(let request):
      writer.byte(1)
      writer.write(request)
    case .cancel(let identifiers):
      writer.byte(2)
      writer.list(identifiers)
    }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    switch try reader.byte(what) {
    case 1: self = .submit(try reader.read(TaskRequest.self, "request"))
    case 2:
      let identifiers = try reader.list(TaskIdentifier.self, "identifiers", atMost: LinkFormat.registrations)
      guard !identifiers.isEmpty else { throw .malformed(what: "a cancellation names no identifier") }
      self = .cancel(identifiers)
    case let code: throw .malformed(what: "change \(code) is not defined")
    }
  }
}

extension PendingRequest: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(id)
    writer.write(identifier)
    writer.write(conditions)
    writer.optional(earliestBegin)
    writer.write(nextStart)
    writer.number(attempt)
    writer.blob(payload)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      id: try reader.read(RequestID.self, "a pending request"),
      identifier: try reader.identifier("a pending request's identifier"),
      conditions: try reader.read(Conditions.self, "conditions"),
      earliestBegin: try reader.optional(WallTime.self, "earliest begin"),
      nextStart: try reader.read(WallTime.self, "next start"),
      attempt: try reader.number("attempt", in: 1...Int.max),
      payload: try reader.blob("a pending request's payload", atMost: Limits.payloadBytes))
  }
}

extension PendingPage: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.list(requests)
    writer.optional(next)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      requests: try reader.list(PendingRequest.self, "pending requests", atMost: PendingPage.requestLimit),
      next: try reader.optional(RequestID.self, "the last of a page"))
  }
}
