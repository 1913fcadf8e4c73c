import CTaskHost
import HostThreads
import TaskModel
import TypedCalls

/// One call of `taskhost_plugin_launch`: open until it returns or its time is up, then closed permanently.
final class LaunchSession: Sendable {
  private let policy: any LaunchPolicy
  private let handlerLimit: Int
  private let state: Guarded<State>
  /// The maximum size of all submitted requests in bytes, so that the report fits a message.
  private static let requestLimit = 2 << 20

  private struct State {
    var isOpen = true
    var identifier: TaskIdentifier?
    var result = Result()
    /// Texts lent to the plugin.
    var lent: [LentBytes] = []
    var requestBytes = 0
    /// Limits log lines: a launch that logs endlessly must not fill the host's log.
    var lines = RateAllowance(burst: Limits.logBurst, perSecond: Limits.logRate)

    mutating func knownIdentifier() throws(CallFailure) -> TaskIdentifier {
      guard let identifier else {
        result.askedTooEarly = true
        throw CallFailure(.notFound, "the host does not know yet which plugin this is: register the handler first")
      }
      return identifier
    }
  }

  /// What the plugin did.
  struct Result {
    var handlers: [PluginHandler] = []
    /// Its submissions and cancellations, in order. A cancellation of all identifiers lists those registered at the end of the session.
    var changes: [LaunchChange] = []
    /// The first registration that was refused.
    var flaw: CallFailure?
    /// The first registration beyond the plugin's limit.
    var surplus: CallFailure?
    /// Whether it asked for settings or folder before the host knew its identifier.
    var askedTooEarly = false
    /// Whether it asked for its pending requests.
    var askedForRequests = false
    /// The last line it logged as an error.
    var lastErrorLine: String?
  }

  /// - Parameters:
  ///   - identifier: The plugin's identifier, if known before it registers.
  ///   - handlerLimit: How many handlers it may register.
  init(policy: any LaunchPolicy, identifier: TaskIdentifier?, handlerLimit: Int) {
    self.policy = policy
    self.handlerLimit = handlerLimit
    state = Guarded(State(identifier: identifier))
  }

  /// Ends the session; every later call with its handle is answered `launched`.
  @discardableResult func close() -> Result {
    state.withLock { state in
      if state.isOpen { tellDropped(&state) }
      state.isOpen = false
      let all = state.result.handlers.map(\.registered.identifier)
      for (index, change) in state.result.changes.enumerated() where change == .cancel([]) { state.result.changes[index] = .cancel(all) }
      return state.result
    }
  }

  func register(_ pointer: UnsafePointer<taskhost_registration>?) throws(CallFailure) {
    try whileOpen { (state) throws(CallFailure) in
      do throws(CallFailure) {
        let handler = try PluginHandler(borrowed: pointer)
        let identifier = handler.registered.identifier
        try checkNumber(&state.result, adding: identifier)
        try policy.admit(identifier)
        state.result.handlers.append(handler)
        state.identifier = state.identifier ?? identifier
      } catch {
        state.result.flaw = state.result.flaw ?? error
        throw error
      }
    }
  }

  private func checkNumber(_ result: inout Result, adding identifier: TaskIdentifier) throws(CallFailure) {
    let surplus: CallFailure
    if result.registers(identifier) {
      surplus = CallFailure(.exists, "a second handler for \(identifier)")
    } else {
      guard result.handlers.count >= handlerLimit else { return }
      surplus = CallFailure(.exists, "a second handler: a plugin registers \(handlerLimit == 1 ? "one" : "at most \(handlerLimit)")")
    }
    result.surplus = result.surplus ?? surplus
    throw surplus
  }

  func configuration() throws(CallFailure) -> UnsafePointer<CChar> { try lend(policy.settings) }

  func dataDirectory() throws(CallFailure) -> UnsafePointer<CChar> { try lend(policy.dataDirectory) }

  /// A text about the plugin, for it to read until the session's end.
  private func lend(_ text: (TaskIdentifier) throws(CallFailure) -> String) throws(CallFailure) -> UnsafePointer<CChar> {
    try whileOpen { (state) throws(CallFailure) in
      let lent = try LentBytes(Array(text(try state.knownIdentifier()).utf8))
      state.lent.append(lent)
      return lent
    }.text
  }

  /// How far an absolute path is entitled.
  func entitlement(to path: String) throws(CallFailure) -> PathEntitlement {
    try whileOpen { (state) throws(CallFailure) in
      _ = try state.knownIdentifier()
      return policy.entitlement(to: path)
    }
  }

  func resourceTokens(_ name: String) throws(CallFailure) -> Int {
    try whileOpen { (_) throws(CallFailure) in try policy.resourceTokens(name) }
  }

  func submit(_ pointer: UnsafePointer<taskhost_request>?) throws(CallFailure) {
    try whileOpen { (state) throws(CallFailure) in
      let request = try TaskRequest(borrowed: pointer)
      guard let identifier = state.identifier else { throw CallFailure(.notPermitted, "register the handler before submitting requests") }
      if request.identifier != identifier, !state.result.registers(request.identifier) { try policy.admit(request, from: identifier) }
      try state.result.checkPayload(of: request)
      try Self.checkRepetition(of: request)
      guard state.requestBytes + request.valueBytes <= Self.requestLimit else {
        throw CallFailure(.limit, "more than 2 MiB of payloads and texts in one launch")
      }
      try hold(.submit(request), in: &state.result)
      state.requestBytes += request.valueBytes
    }
  }

  /// Refuses a request that repeats and that the next launch would submit as another one.
  private static func checkRepetition(of request: TaskRequest) throws(CallFailure) {
    guard request.repetition != nil, request.onConflict == .none, request.idempotencyKey == nil else { return }
    throw CallFailure(
      .invalid, "a request that repeats never ends, and each launch would submit another: give it unique_key and on_conflict")
  }

  /// A page of the plugin's pending requests, and the kinds of its handlers.
  func pendingRequests(after request: RequestID?) throws(CallFailure) -> (PendingPage, kinds: [TaskIdentifier: TaskKind]) {
    try whileOpen { (state) throws(CallFailure) in
      guard !state.result.handlers.isEmpty else {
        throw CallFailure(.notPermitted, "register the handler before listing requests")
      }
      state.result.askedForRequests = true
      let kinds = Dictionary(state.result.handlers.map { ($0.registered.identifier, $0.registered.kind) }) { first, _ in first }
      return (try policy.pendingRequests(of: kinds.keys.sorted(), after: request), kinds)
    }
  }

  /// Records a cancellation of the pending requests of one of the plugin's identifiers, or of all (NULL).
  func cancelPending(of pointer: UnsafePointer<CChar>?) throws(CallFailure) {
    try whileOpen { (state) throws(CallFailure) in
      guard let pointer else {
        guard !state.result.handlers.isEmpty else {
          throw CallFailure(.notPermitted, "register the handler before cancelling requests")
        }
        return try hold(.cancel([]), in: &state.result)
      }
      let identifier = try Borrowed.identifier(pointer)
      guard state.result.registers(identifier) else {
        throw CallFailure(.notPermitted, "\(identifier) is not an identifier that this plugin has registered")
      }
      try hold(.cancel([identifier]), in: &state.result)
    }
  }

  private func hold(_ change: LaunchChange, in result: inout Result) throws(CallFailure) {
    guard result.changes.count < Limits.launchChanges else {
      throw CallFailure(.limit, "more than 1,000 requests and cancellations in one launch")
    }
    result.changes.append(change)
  }

  func log(_ level: taskhost_log_level, _ message: UnsafePointer<CChar>?) throws(CallFailure) {
    try whileOpen { (state) throws(CallFailure) in
      let line = LogLine(
        time: SystemClock().wallTime, level: try LogLine.Level(level), message: try Borrowed.message(message, named: "message"))
      if line.level == .error { state.result.lastErrorLine = line.message }
      guard state.lines.pass(at: SystemClock.now) else { return }
      tellDropped(&state)
      policy.log(line)
    }
  }

  private func tellDropped(_ state: inout State) {
    let dropped = state.lines.takeRefused()
    guard dropped > 0 else { return }
    policy.log(LogLine(time: SystemClock().wallTime, level: .warning, message: "\(dropped) log lines were dropped: too many at once"))
  }

  private func whileOpen<Value: Sendable>(_ body: (inout State) throws(CallFailure) -> Value) throws(CallFailure) -> Value {
    try state.withLock { (state) throws(CallFailure) in
      guard state.isOpen else { throw .launchIsOver }
      return try body(&state)
    }
  }
}

extension LaunchSession.Result {
  fileprivate func registers(_ identifier: TaskIdentifier) -> Bool { handlers.contains { $0.registered.identifier == identifier } }

  /// Checks that the payload fits the plugin's typed handler. The host checks submissions to other plugins.
  fileprivate func checkPayload(of request: TaskRequest) throws(CallFailure) {
    let handler = handlers.first { $0.registered.identifier == request.identifier }
    guard case .typed(let call)? = handler?.entry else { return }
    do { _ = try TypedArguments(payload: request.payload, of: call.signature) } catch {
      throw CallFailure(.invalid, "the payload does not fit the handler: \(error)")
    }
  }
}
