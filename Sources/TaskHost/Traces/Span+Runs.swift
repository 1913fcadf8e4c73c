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

  private static func common(_ identifier: TaskIdentifier, _ request: RequestID) -> [(name: String, value: Value)] {
    [("taskhost.identifier", .text(identifier.rawValue)), ("taskhost.request.id", .text(request.description))]
  }
}
