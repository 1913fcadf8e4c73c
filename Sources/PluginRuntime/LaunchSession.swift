import CTaskHost
import Glibc
import HostThreads
import TaskModel
import TypedCalls

/// One call of `taskhost_plugin_launch`: open until it returns or its time is up, then closed permanently.
final class LaunchSession: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private let policy: any LaunchPolicy
  private let handlerLimit: Int
  private let monitor = Monitor()
  private var isOpen = true
  private var identifier: TaskIdentifier?
  private var result = Result()
  /// Texts lent to the plugin, freed with the session.
  private var lent: [UnsafeMutablePointer<CChar>] = []
  /// The maximum size of all their payloads in bytes.
  private static let payloadLimit = 2 << 20
  private var payloadBytes = 0
  /// Limits log lines: a launch that logs endlessly must not fill the host's log.
  private var lines = RateAllowance(burst: Limits.logBurst, perSecond: Limits.logRate)

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
    self.identifier = identifier
    self.handlerLimit = handlerLimit
  }

  deinit { lent.forEach { free($0) } }

  /// Ends the session; every later call with its handle is answered `launched`.
  @discardableResult func close() -> Result {
    monitor.locked {
      if isOpen { tellDropped() }
      isOpen = false
      let all = result.handlers.map(\.registered.identifier)
      for (index, change) in result.changes.enumerated() where change == .cancel([]) { result.changes[index] = .cancel(all) }
      return result
    }
  }

  func register(_ pointer: UnsafePointer<taskhost_registration>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      do throws(CallFailure) {
        let handler = try PluginHandler(borrowed: pointer)
        try checkNumber(adding: handler.registered.identifier)
        try policy.admit(handler.registered.identifier)
        result.handlers.append(handler)
        identifier = identifier ?? handler.registered.identifier
      } catch {
        result.flaw = result.flaw ?? error
        throw error
      }
    }
  }

  /// With the lock held.
  private func checkNumber(adding identifier: TaskIdentifier) throws(CallFailure) {
    let surplus: CallFailure
    if result.handlers.contains(where: { $0.registered.identifier == identifier }) {
      surplus = CallFailure(.exists, "a second handler for \(identifier)")
    } else {
      guard result.handlers.count >= handlerLimit else { return }
      surplus = CallFailure(.exists, "a second handler: a plugin registers \(handlerLimit == 1 ? "one" : "at most \(handlerLimit)")")
    }
    result.surplus = result.surplus ?? surplus
    throw surplus
  }

  func configuration() throws(CallFailure) -> UnsafePointer<CChar> {
    try whileOpen { () throws(CallFailure) in try lend(policy.settings(for: try knownIdentifier())) }
  }

  func dataDirectory() throws(CallFailure) -> UnsafePointer<CChar> {
    try whileOpen { () throws(CallFailure) in try lend(policy.dataDirectory(for: try knownIdentifier())) }
  }

  /// How far an absolute path is entitled.
  func entitlement(to path: String) throws(CallFailure) -> PathEntitlement {
    try whileOpen { () throws(CallFailure) in
      _ = try knownIdentifier()
      return policy.entitlement(to: path)
    }
  }

  func submit(_ pointer: UnsafePointer<taskhost_request>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      let request = try TaskRequest(borrowed: pointer)
      guard let identifier else { throw CallFailure(.notPermitted, "register the handler before submitting requests") }
      if request.identifier != identifier, !registers(request.identifier) { try policy.admit(request, from: identifier) }
      try checkPayload(of: request)
      guard payloadBytes + request.payload.count <= Self.payloadLimit else {
        throw CallFailure(.limit, "more than 2 MiB of payloads in one launch")
      }
      try hold(.submit(request))
      payloadBytes += request.payload.count
    }
  }

  /// With the lock held: checks that the payload fits the plugin's typed handler. The host checks submissions to other plugins.
  private func checkPayload(of request: TaskRequest) throws(CallFailure) {
    let handler = result.handlers.first { $0.registered.identifier == request.identifier }
    guard case .typed(let call)? = handler?.entry else { return }
    do { _ = try TypedArguments(payload: request.payload, of: call.signature) } catch {
      throw CallFailure(.invalid, "the payload does not fit the handler: \(error)")
    }
  }

  /// A page of the plugin's pending requests, and the kinds of its handlers.
  func pendingRequests(after request: RequestID?) throws(CallFailure) -> (PendingPage, kinds: [TaskIdentifier: TaskKind]) {
    try whileOpen { () throws(CallFailure) in
      guard !result.handlers.isEmpty else { throw CallFailure(.notPermitted, "register the handler before listing requests") }
      result.askedForRequests = true
      let kinds = Dictionary(result.handlers.map { ($0.registered.identifier, $0.registered.kind) }) { first, _ in first }
      return (try policy.pendingRequests(of: kinds.keys.sorted(), after: request), kinds)
    }
  }

  /// Records a cancellation of the pending requests of one of the plugin's identifiers, or of all (NULL).
  func cancelPending(of pointer: UnsafePointer<CChar>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      guard let pointer else {
        guard !result.handlers.isEmpty else { throw CallFailure(.notPermitted, "register the handler before cancelling requests") }
        return try hold(.cancel([]))
      }
      let identifier = try Borrowed.identifier(pointer)
      guard registers(identifier) else {
        throw CallFailure(.notPermitted, "\(identifier) is not an identifier that this plugin has registered")
      }
      try hold(.cancel([identifier]))
    }
  }

  /// With the lock held.
  private func registers(_ identifier: TaskIdentifier) -> Bool {
    result.handlers.contains { $0.registered.identifier == identifier }
  }

  /// With the lock held.
  private func hold(_ change: LaunchChange) throws(CallFailure) {
    guard result.changes.count < Limits.launchChanges else {
      throw CallFailure(.limit, "more than 1,000 requests and cancellations in one launch")
    }
    result.changes.append(change)
  }

  func log(_ level: taskhost_log_level, _ message: UnsafePointer<CChar>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      let line = LogLine(
        time: SystemClock().wallTime, level: try LogLine.Level(level), message: try Borrowed.message(message, named: "message"))
      if line.level == .error { result.lastErrorLine = line.message }
      guard lines.pass(at: SystemClock.now) else { return }
      tellDropped()
      policy.log(line)
    }
  }

  /// With the lock held.
  private func tellDropped() {
    let dropped = lines.takeRefused()
    guard dropped > 0 else { return }
    policy.log(LogLine(time: SystemClock().wallTime, level: .warning, message: "\(dropped) log lines were dropped: too many at once"))
  }

  private func whileOpen<Value>(_ body: () throws(CallFailure) -> Value) throws(CallFailure) -> Value {
    monitor.lock()
    defer { monitor.unlock() }
    guard isOpen else { throw .launchIsOver }
    return try body()
  }

  /// With the lock held.
  private func knownIdentifier() throws(CallFailure) -> TaskIdentifier {
    guard let identifier else {
      result.askedTooEarly = true
      throw CallFailure(.notFound, "the host does not know yet which plugin this is: register the handler first")
    }
    return identifier
  }

  /// With the lock held.
  private func lend(_ text: String) throws(CallFailure) -> UnsafePointer<CChar> {
    guard let copy = strdup(text) else { throw CallFailure(.internal, "out of memory") }
    lent.append(copy)
    return UnsafePointer(copy)
  }
}
