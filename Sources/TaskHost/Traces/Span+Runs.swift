import RecordJSON
import StrictText
import TaskModel

// What a host tells of requests and runs. Payloads, outputs, and the words of handlers have no place in it: a collector keeps what it gets.

extension Span {
  /// The submission of a request.
  ///
  /// - Parameters:
  ///   - place: Its place, whose trace is the caller's, if there is one.
  ///   - caller: The `traceparent` that it was submitted with.
  static func submission(
    of request: RequestID, _ identifier: TaskIdentifier, at time: WallTime, place: TraceParent, caller: TraceParent?
  ) -> Span {
    let moment = time.unixNanoseconds
    return Span(
      place: place, parent: caller, name: "submit \(identifier)", kind: .producer, start: moment, end: moment,
      attributes: common(identifier, request))
  }

  /// The spans of a run that has ended: the run itself, and how long its request waited for it once it was due.
  static func spans(of run: RunRecord, _ trace: RunTrace) -> [Span] {
    guard let outcome = run.outcome else { return [] }
    let start = run.started.unixNanoseconds
    // A retry is the root of a trace of its own: its wait is then a part of the run's.
    let submission = trace.link == nil ? trace.current.submission(of: run.request) : nil
    var attributes = common(run.identifier, run.request)
    attributes.append(("taskhost.run.id", .text(run.id.description)))
    attributes.append(("taskhost.attempt", .number(Int64(clamping: run.attempt))))
    var spans: [Span] = []
    if let due = run.report.due, due < .distantFuture {
      spans.append(
        Span(
          place: trace.current.inner(0), parent: submission ?? trace.current, name: "wait \(run.identifier)", kind: .inner,
          start: min(due.unixNanoseconds, start), end: start, attributes: attributes))
    }
    attributes.append(("taskhost.outcome", .text(outcome.rawValue)))
    if let reason = run.report.stopReason { attributes.append(("taskhost.stop_reason", .text(reason.rawValue))) }
    let hasFailed = outcome.isFailure || outcome == .lost
    spans.append(
      Span(
        place: trace.current, parent: submission, link: trace.link, name: "run \(run.identifier)", kind: .consumer, start: start,
        end: max(start, (run.ended ?? run.started).unixNanoseconds), attributes: attributes,
        failure: hasFailed ? [outcome.rawValue, run.report.stopReason?.rawValue].compactMap(\.self).joined(separator: ": ") : nil))
    return spans
  }

  /// What a handler has measured inside its run.
  ///
  /// - Parameter redaction: Members of attributes that nobody sees; they are hidden here as in payloads.
  static func inner(_ run: RunRecord, _ trace: RunTrace, _ redaction: PayloadRedaction) -> [Span] {
    run.report.spans.prefix(Limits.runSpans).enumerated().map { index, span in
      var attributes = common(run.identifier, run.request)
      attributes.append(("taskhost.run.id", .text(run.id.description)))
      return Span(
        place: trace.current.inner(UInt64(index) &+ 1), parent: trace.current, name: span.name, kind: .inner, start: span.start,
        end: span.end,
        attributes: attributes + Self.attributes(redaction.redacted(span.attributes)), failure: span.hasFailed ? "failed" : nil)
    }
  }

  /// The members of a handler's JSON object that an attribute can be.
  private static func attributes(_ object: [UInt8]) -> [(name: String, value: Value)] {
    guard !object.isEmpty, let node = try? JSONReader.read(object), case .object(let members) = node.value else { return [] }
    return members.prefix(32).compactMap { member in value(member.node, in: object).map { (member.name, $0) } }
  }

  private static func value(_ node: JSONNode, in object: [UInt8]) -> Value? {
    switch node.value {
    case .string(let text): .text(text)
    case .bool(let flag): .flag(flag)
    case .number(let number?): .number(number)
    case .number(nil):
      Double(String(decoding: object[node.range], as: UTF8.self)).flatMap { $0.isFinite ? .fraction($0) : nil }
    case .null, .array, .object, .opaque: nil
    }
  }

  private static func common(_ identifier: TaskIdentifier, _ request: RequestID) -> [(name: String, value: Value)] {
    [("taskhost.identifier", .text(identifier.rawValue)), ("taskhost.request.id", .text(request.description))]
  }
}
