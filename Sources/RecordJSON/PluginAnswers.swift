import StrictText
public import TaskModel

/// Answers what plugins ask, as JSON: each object has the members that the control API gives it.
///
/// A plugin asks about its own identifiers and those that it may submit to. Of the latter it sees no payloads: whoever submitted them may
/// have trusted only the handler. It sees no outputs of runs.
public struct PluginAnswers: Sendable {
  private let records: any RecordReading
  private let rules: SubmissionRules
  private let explain: @Sendable (RequestRecord) throws(CallFailure) -> RequestExplanation
  private let conditions: @Sendable () throws(CallFailure) -> ConditionReport

  /// - Parameters:
  ///   - records: All requests and runs that there are.
  ///   - rules: What each plugin may submit to.
  ///   - explain: Says why a request is not running. May block.
  ///   - conditions: The conditions of the machine. May block.
  public init(
    _ records: any RecordReading, rules: SubmissionRules,
    explain: @escaping @Sendable (RequestRecord) throws(CallFailure) -> RequestExplanation,
    conditions: @escaping @Sendable () throws(CallFailure) -> ConditionReport
  ) {
    self.records = records
    self.rules = rules
    self.explain = explain
    self.conditions = conditions
  }

  /// Answers a question. May block for about a quarter of a second, besides the reading.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the run that asks.
  ///   - own: All identifiers of its plugin.
  public func answer(
    to question: PluginQuestion, from identifier: TaskIdentifier, own: [TaskIdentifier]
  ) throws(CallFailure) -> AnswerPage {
    switch question {
    case .requests(let asked, let after): return try requests(of: asked, after: after, from: identifier, own: own)
    case .request(let id):
      let record = shown(try onRecord(id, from: identifier, own: own), own)
      return AnswerPage(texts: [try Self.text { $0.request(record) }])
    case .explanation(let id):
      let explanation = try explain(try onRecord(id, from: identifier, own: own))
      return AnswerPage(texts: [try Self.text { $0.explanation(explanation) }])
    case .conditions:
      let report = try conditions()
      return AnswerPage(texts: [try Self.text { $0.conditions(report) }])
    case .runs(let asked, let after):
      try rules.check(asked, from: identifier, own: own)
      var query = RunQuery()
      query.identifier = asked
      return try Self.page(after: after, id: \.id) { (after, limit) throws(CallFailure) in
        (query.after, query.limit) = (after, limit)
        return try reading { () throws(StoreError) in try records.runs(query) }
      } complete: { (run) throws(CallFailure) in
        run
      } write: {
        $0.run($1)
      }
    case .lastSuccess(let asked):
      try rules.check(asked, from: identifier, own: own)
      var query = RunQuery()
      (query.identifier, query.limit) = (asked, 1)
      query.outcomes = RunOutcome.allCases.filter(\.isSuccess)
      guard let run = try reading({ () throws(StoreError) in try records.runs(query) }).first else {
        throw CallFailure(.notFound, "no run of \(asked) on record has succeeded")
      }
      return AnswerPage(texts: [try Self.text { $0.run(run) }])
    case .transfers(let after): return try transfers(after: after, own: own)
    case .transfer(let id):
      guard let record = try reading({ () throws(StoreError) in try records.request(id) }), TransferPermission.owns(record, own) else {
        throw CallFailure(.notFound, "the plugin has no transfer \(id)")
      }
      let state = try transferState(of: record)
      return AnswerPage(texts: [try Self.text { $0.transfer(state, isWhole: true) }])
    }
  }

  private func transfers(after: RequestID?, own: [TaskIdentifier]) throws(CallFailure) -> AnswerPage {
    try Self.page(after: after, id: \.id) { (after, limit) throws(CallFailure) in
      var found: [RequestRecord] = []
      for identifier in own {
        var query = RequestQuery()
        (query.identifier, query.after, query.limit) = (.transfers, after, limit)
        query.tag = TransferPermission.tag(of: identifier)
        query.states = RequestState.allCases.filter { !$0.isFinal }
        found += try reading { () throws(StoreError) in try records.requests(query) }
      }
      return Array(found.sorted { $0.id > $1.id }.prefix(limit))
    } complete: { (record) throws(CallFailure) in
      try reading { () throws(StoreError) in try records.request(record.id) } ?? record
    } write: { writer, record in
      writer.transfer((try? transferState(of: record)) ?? TransferState(record: record, run: nil), isWhole: true)
    }
  }

  /// With the last run that has ended.
  private func transferState(of record: RequestRecord) throws(CallFailure) -> TransferState {
    var query = RunQuery()
    (query.request, query.limit) = (record.id, 1)
    return try reading { () throws(StoreError) in
      guard let last = try records.runs(query).first else { return TransferState(record: record, run: nil) }
      return TransferState(record: record, run: try records.run(last.id))
    }
  }

  private func requests(
    of asked: TaskIdentifier, after: RequestID?, from identifier: TaskIdentifier, own: [TaskIdentifier]
  ) throws(CallFailure) -> AnswerPage {
    try rules.check(asked, from: identifier, own: own)
    var query = RequestQuery()
    query.identifier = asked
    query.states = RequestState.allCases.filter { !$0.isFinal }
    return try Self.page(after: after, id: \.id) { (after, limit) throws(CallFailure) in
      (query.after, query.limit) = (after, limit)
      return try reading { () throws(StoreError) in try records.requests(query) }
    } complete: { (record) throws(CallFailure) in
      guard own.contains(asked) else { return record }
      // A listing has no payloads.
      return try reading { () throws(StoreError) in try records.request(record.id) } ?? record
    } write: {
      $0.request($1)
    }
  }

  /// A request on record. Throws `notFound`, also for those of identifiers that the plugin may not submit to: ids can be guessed, and
  /// nobody else's business is whether there is one.
  private func onRecord(_ id: RequestID, from identifier: TaskIdentifier, own: [TaskIdentifier]) throws(CallFailure) -> RequestRecord {
    try rules.visible(try reading { () throws(StoreError) in try records.request(id) }, id, to: identifier, own: own)
  }

  private func shown(_ record: RequestRecord, _ own: [TaskIdentifier]) -> RequestRecord {
    var record = record
    if !own.contains(record.request.identifier) { record.request.payload = [] }
    return record
  }

  // MARK: Pages

  /// - Parameters:
  ///   - read: Reads the elements after an id, up to a maximum number.
  ///   - complete: Reads what the listing lacks.
  ///   - write: Writes the members of one element.
  private static func page<Element, Kind>(
    after: RecordID<Kind>?, id: KeyPath<Element, RecordID<Kind>>,
    read: (RecordID<Kind>?, Int) throws(CallFailure) -> [Element], complete: (Element) throws(CallFailure) -> Element,
    write: (inout JSONWriter, Element) -> Void
  ) throws(CallFailure) -> AnswerPage {
    var page = AnswerPage()
    var bytes = 0
    var last = after
    while page.texts.count < AnswerPage.countLimit {
      let limit = min(AnswerPage.readCount, AnswerPage.countLimit - page.texts.count)
      let elements = try read(last, limit)
      for element in elements {
        let whole = try complete(element)
        let text = try text { write(&$0, whole) }
        page.texts.append(text)
        bytes += text.count
        last = element[keyPath: id]
        page.next = last?.description
        if bytes >= AnswerPage.fullBytes { return page }
      }
      if elements.count < limit {
        page.next = nil
        return page
      }
    }
    return page
  }

  private static func text(_ write: (inout JSONWriter) -> Void) throws(CallFailure) -> [UInt8] {
    let bytes = JSONWriter.object(reservingCapacity: 512) { write(&$0) }
    guard bytes.count <= AnswerPage.textLimit else {
      throw CallFailure(.tooBig, "the answer has \(bytes.count) bytes, more than \(AnswerPage.textLimit)")
    }
    return bytes
  }

  private func reading<Value>(_ body: () throws(StoreError) -> Value) throws(CallFailure) -> Value {
    do { return try body() } catch { throw CallFailure(.unavailable, error.description) }
  }
}
