import Dispatch
import Synchronization
public import TaskModel
public import WorkerLink
public import WorkerProcesses

/// The host's services in memory: the same for runs in threads and for runs in workers.
public final class MemoryServices: RunServices, WorkerServices {
  private struct State {
    var values: [String: [UInt8]] = [:]
    var checkpoints: [RequestID: [UInt8]] = [:]
    var submitted: [TaskRequest] = []
    var pending: [PendingRequest] = []
    var pagesLeft = Int.max
    var cancelled: [TaskIdentifier?] = []
    var events: [(name: String, payload: [UInt8]?)] = []
    var questions: [PluginQuestion] = []
    var snoozed: [Duration] = []
    var updated: [TaskRequest] = []
    var transfers: [TaskRequest] = []
    var transferChanges: [TransferChange] = []
    var asked: [(directory: String, files: [FileQuestion])] = []
    var assertions: [AssertionID: AssertionRequest] = [:]
    var begunAssertions: [AssertionRequest] = []
  }

  private let state = Mutex(State())
  /// Answers to workers come from here, as a store's come from its own thread.
  private let answers = DispatchQueue(label: "answers")

  /// Services without any value.
  public init() {}

  /// Always the same time.
  public var wallTime: WallTime { WallTime(unixMilliseconds: 1_700_000_000_000) }
  /// What was submitted so far.
  public var submitted: [TaskRequest] { state.withLock { $0.submitted } }

  /// The value that was set.
  public func state(_ key: String, for run: RunReference) throws(CallFailure) -> [UInt8]? {
    state.withLock { $0.values["\(run.identifier) \(key)"] }
  }

  /// Keeps the value.
  public func setState(_ key: String, to value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    state.withLock { $0.values["\(run.identifier) \(key)"] = value }
  }

  /// What was set for the request.
  public func checkpoint(for run: RunReference) throws(CallFailure) -> [UInt8]? { state.withLock { $0.checkpoints[run.request] } }

  /// Keeps the value for the request.
  public func setCheckpoint(_ value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    state.withLock { $0.checkpoints[run.request] = value }
  }

  /// Keeps the request, and answers with the id of the request that runs.
  public func submit(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    state.withLock { $0.submitted.append(request) }
    return Submission(id: run.request, disposition: .created, nextStart: wallTime)
  }

  /// Finds nothing.
  public func cancel(_ request: RequestID, for run: RunReference) throws(CallFailure) { throw CallFailure(.notFound, "nothing to cancel") }

  /// The pending requests that every plugin has from now on.
  ///
  /// - Parameter pages: How often a page of them can be read before the store cannot be read any more.
  public func setPending(_ requests: [PendingRequest], pages: Int = .max) {
    state.withLock { ($0.pending, $0.pagesLeft) = (requests, pages) }
  }

  /// Whose pending requests were cancelled so far; nil: those of all identifiers.
  public var cancelled: [TaskIdentifier?] { state.withLock { $0.cancelled } }

  /// Some of what was set, by the limits of a page.
  public func pendingRequests(after request: RequestID?, for run: RunReference) throws(CallFailure) -> PendingPage {
    let page = state.withLock { state -> PendingPage? in
      guard state.pagesLeft > 0 else { return nil }
      state.pagesLeft -= 1
      return PendingPage(of: state.pending, after: request)
    }
    guard let page else { throw CallFailure(.unavailable, "the store cannot be read") }
    return page
  }

  /// Keeps the wish; answers with the number of requests that were set, if the identifier is the run's.
  public func cancelPending(of identifier: TaskIdentifier?, for run: RunReference) throws(CallFailure) -> Int {
    if let identifier, identifier != run.identifier { throw CallFailure(.notPermitted, "\(identifier) is another plugin's") }
    return state.withLock { state in
      state.cancelled.append(identifier)
      return state.pending.count
    }
  }

  /// The events that were raised.
  public var events: [(name: String, payload: [UInt8]?)] { state.withLock { $0.events } }

  /// Keeps the event; answers with the number of events so far.
  public func notify(_ event: String, payload: [UInt8]?, for run: RunReference) throws(CallFailure) -> Int {
    state.withLock { state in
      state.events.append((event, payload))
      return state.events.count
    }
  }

  /// The transfers that were submitted, and what was done with them.
  public var transfers: (submitted: [TaskRequest], changes: [TransferChange]) { state.withLock { ($0.transfers, $0.transferChanges) } }

  /// A folder that is always the same.
  public func transferFolder(for run: RunReference) throws(CallFailure) -> String { "/transfers/\(run.identifier)" }

  /// Keeps the transfer.
  public func submitTransfer(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    state.withLock { $0.transfers.append(request) }
    return Submission(id: run.request, disposition: .created, nextStart: wallTime)
  }

  /// Keeps the change.
  public func change(transfer id: RequestID, _ change: TransferChange, for run: RunReference) throws(CallFailure) {
    state.withLock { $0.transferChanges.append(change) }
  }

  /// The questions that were asked.
  public var questions: [PluginQuestion] { state.withLock { $0.questions } }
  /// The delays by which requests were postponed.
  public var snoozed: [Duration] { state.withLock { $0.snoozed } }
  /// The fields that requests were given.
  public var updated: [TaskRequest] { state.withLock { $0.updated } }

  /// Answers a listing with three pages of two objects, and any other question with one object; each names the question's number.
  public func answer(to question: PluginQuestion, for run: RunReference) throws(CallFailure) -> AnswerPage {
    let number = state.withLock { state in
      state.questions.append(question)
      return state.questions.count
    }
    let text = Array("{\"n\":\(number)}".utf8)
    switch question {
    case .requests, .runs, .transfers: return AnswerPage(texts: [text, []], next: number.isMultiple(of: 3) ? nil : run.request.description)
    case .request, .explanation, .conditions, .transfer: return AnswerPage(texts: [text])
    case .lastSuccess: throw CallFailure(.notFound, "nothing has succeeded")
    }
  }

  /// Keeps the delay.
  public func snooze(_ request: RequestID, for delay: Duration, from run: RunReference) throws(CallFailure) -> Submission {
    state.withLock { $0.snoozed.append(delay) }
    return Submission(id: request, disposition: .updated, nextStart: wallTime + delay)
  }

  /// Keeps the fields.
  public func update(_ request: RequestID, with fields: TaskRequest, from run: RunReference) throws(CallFailure) -> Submission {
    state.withLock { $0.updated.append(fields) }
    return Submission(id: request, disposition: .updated, nextStart: wallTime)
  }

  /// The files that were asked about, and where.
  public var askedFiles: [(directory: String, files: [FileQuestion])] { state.withLock { $0.asked } }

  /// By the inode: a third is open, a third is not, of the rest nothing is known.
  public func openFiles(_ files: [FileQuestion], in directory: String, for run: RunReference) throws(CallFailure) -> [FileUse] {
    state.withLock { $0.asked.append((directory, files)) }
    return files.map { FileUse(rawValue: UInt8($0.inode % 3)) ?? .unknown }
  }

  /// The assertions that were begun so far.
  public var begunAssertions: [AssertionRequest] { state.withLock { $0.begunAssertions } }
  /// How many of them were not ended.
  public var heldAssertions: Int { state.withLock { $0.assertions.count } }

  /// Grants up to three at once.
  public func beginAssertion(_ request: AssertionRequest, for run: RunReference) throws(CallFailure) -> AssertionID {
    let id = state.withLock { state -> AssertionID? in
      guard state.assertions.count < 3 else { return nil }
      state.begunAssertions.append(request)
      let id = AssertionID(sequence: Int64(state.begunAssertions.count), origin: 1)
      state.assertions[id] = request
      return id
    }
    guard let id else { throw CallFailure(.limit, "three assertions are held") }
    return id
  }

  /// Forgets it.
  public func endAssertion(_ id: AssertionID, for run: RunReference) throws(CallFailure) {
    guard state.withLock({ $0.assertions.removeValue(forKey: id) }) != nil else { throw CallFailure(.notFound, "no such assertion") }
  }

  /// Answers as the calls above, from a thread of its own.
  public func serve(_ call: WorkerCall, for run: RunReference, completion: @escaping @Sendable (CallAnswer) -> Void) {
    answers.async { [self] in completion(answer(call, run)) }
  }

  private func answer(_ call: WorkerCall, _ run: RunReference) -> CallAnswer {
    do throws(CallFailure) {
      switch call {
      case .state(_, let key): return .bytes(try state(key, for: run))
      case .setState(_, let key, let value): try setState(key, to: value, for: run)
      case .checkpoint: return .bytes(try checkpoint(for: run))
      case .setCheckpoint(_, let value): try setCheckpoint(value, for: run)
      case .submit(_, let request): return .submission(try submit(request, for: run))
      case .cancel(_, let request): try cancel(request, for: run)
      case .pending(_, let request): return .pending(try pendingRequests(after: request, for: run))
      case .cancelPending(_, let identifier): return .count(try cancelPending(of: identifier, for: run))
      case .notify(_, let event, let payload): return .count(try notify(event, payload: payload, for: run))
      case .ask(_, let question): return .page(try self.answer(to: question, for: run))
      case .snooze(_, let request, let delay): return .submission(try snooze(request, for: delay, from: run))
      case .update(_, let request, let fields): return .submission(try update(request, with: fields, from: run))
      case .openFiles(_, let directory, let files): return .bytes(try openFiles(files, in: directory, for: run).map(\.rawValue))
      case .beginAssertion(_, let name, let reason, let length):
        return .assertion(try beginAssertion(AssertionRequest(name: name, reason: reason, length: length), for: run))
      case .endAssertion(_, let id): try endAssertion(id, for: run)
      case .transferFolder: return .text(try transferFolder(for: run))
      case .submitTransfer(_, let request): return .submission(try submitTransfer(request, for: run))
      case .changeTransfer(_, let id, let change): try self.change(transfer: id, change, for: run)
      case .admit, .settings, .dataDirectory, .admitRequest, .launchPending, .resourceTokens:
        throw CallFailure(.internal, "that is no call of a run")
      }
      return .done
    } catch { return .failure(error) }
  }
}
