import CTaskHost
import Glibc
import HostThreads
import Synchronization
public import TaskModel

/// What the host decides while a plugin launches. Called on the plugin's threads.
public protocol LaunchPolicy: Sendable {
  /// Whether the plugin may have the identifier. Throws `exists` or `notPermitted`.
  func admit(_ identifier: TaskIdentifier) throws(CallFailure)
  /// The plugin's settings, a JSON object.
  func settings(for identifier: TaskIdentifier) -> String
  /// The plugin's own folder, an absolute path, made if need be.
  func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String
  /// Whether a plugin with that identifier may submit the request.
  func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure)
  /// A line from a plugin that launches.
  func log(_ line: LogLine)
}

/// One call of `taskhost_plugin_launch`: open until it returns, then closed for ever.
final class LaunchSession: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  let policy: any LaunchPolicy
  let handlerLimit: Int
  private let monitor = Monitor()
  private var isOpen = true
  private var identifier: TaskIdentifier?
  private var handlers: [PluginHandler] = []
  private var requests: [TaskRequest] = []
  private var flaw: CallFailure?
  private var askedTooEarly = false
  /// Texts lent to the plugin; kept as long as the session, so that a plugin that keeps them too long reads no freed memory at once.
  private var lent: [UnsafeMutablePointer<CChar>] = []

  /// What the plugin did.
  struct Result {
    var handlers: [PluginHandler]
    var requests: [TaskRequest]
    /// The first registration that was refused.
    var flaw: CallFailure?
    /// It asked for settings or folder before the host knew who it is.
    var askedTooEarly: Bool
  }

  /// - Parameters:
  ///   - identifier: Who the plugin is, where that is known before it registers.
  ///   - handlerLimit: How many handlers it may register.
  init(policy: any LaunchPolicy, identifier: TaskIdentifier?, handlerLimit: Int) {
    self.policy = policy
    self.identifier = identifier
    self.handlerLimit = handlerLimit
  }

  deinit { lent.forEach { free($0) } }

  /// Ends the session; every later call with its handle is answered `launched`.
  func close() -> Result {
    monitor.locked {
      isOpen = false
      return Result(handlers: handlers, requests: requests, flaw: flaw, askedTooEarly: askedTooEarly)
    }
  }

  func register(_ pointer: UnsafePointer<taskhost_registration>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      do throws(CallFailure) {
        let handler = try Self.handler(from: pointer)
        guard handlers.count < handlerLimit else {
          throw CallFailure(.exists, "a second handler: a plugin registers \(handlerLimit == 1 ? "one" : "at most \(handlerLimit)")")
        }
        if let known = handlers.first(where: { $0.registered.identifier == handler.registered.identifier }) {
          throw CallFailure(.exists, "a second handler for \(known.registered.identifier)")
        }
        try policy.admit(handler.registered.identifier)
        handlers.append(handler)
        identifier = identifier ?? handler.registered.identifier
      } catch {
        flaw = flaw ?? error
        throw error
      }
    }
  }

  func configuration() throws(CallFailure) -> UnsafePointer<CChar> {
    try whileOpen { () throws(CallFailure) in
      guard let identifier else { throw tooEarly() }
      return try lend(policy.settings(for: identifier))
    }
  }

  func dataDirectory() throws(CallFailure) -> UnsafePointer<CChar> {
    try whileOpen { () throws(CallFailure) in
      guard let identifier else { throw tooEarly() }
      return try lend(policy.dataDirectory(for: identifier))
    }
  }

  func submit(_ pointer: UnsafePointer<taskhost_request>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      let request = try TaskRequest(borrowed: pointer)
      guard let identifier else { throw CallFailure(.notPermitted, "register the handler before submitting requests") }
      try policy.admit(request, from: identifier)
      guard requests.count < 1000 else { throw CallFailure(.limit, "more than 1,000 requests in one launch") }
      requests.append(request)
    }
  }

  func log(_ level: taskhost_log_level, _ message: UnsafePointer<CChar>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      let text = try Borrowed.message(message, named: "message")
      policy.log(LogLine(time: SystemClock().wallTime, level: try LogLine.Level(level), message: text))
    }
  }

  private func whileOpen<Value>(_ body: () throws(CallFailure) -> Value) throws(CallFailure) -> Value {
    monitor.lock()
    defer { monitor.unlock() }
    guard isOpen else { throw .launchIsOver }
    return try body()
  }

  /// With the lock held.
  private func tooEarly() -> CallFailure {
    askedTooEarly = true
    return CallFailure(.notFound, "the host does not know yet which plugin this is: register the handler first")
  }

  /// With the lock held.
  private func lend(_ text: String) throws(CallFailure) -> UnsafePointer<CChar> {
    guard let copy = strdup(text) else { throw CallFailure(.internal, "out of memory") }
    lent.append(copy)
    return UnsafePointer(copy)
  }

  private static func handler(from pointer: UnsafePointer<taskhost_registration>?) throws(CallFailure) -> PluginHandler {
    let raw = try Borrowed.structure(pointer, named: "registration", empty: taskhost_registration())
    let text = try Borrowed.text(raw.identifier, named: "identifier", limit: 1024)
    let identifier: TaskIdentifier
    do { identifier = try TaskIdentifier(text) } catch { throw CallFailure(.invalid, error.description) }
    guard let kind = TaskKind(code: raw.kind) else {
      throw CallFailure(.invalid, "kind \(raw.kind) is none of TASKHOST_REFRESH, TASKHOST_PROCESSING, TASKHOST_CONTINUED")
    }
    guard raw.reserved == 0 else { throw CallFailure(.invalid, "reserved is \(raw.reserved); it must be 0") }
    guard raw.max_concurrent_runs <= Limits.concurrentRuns else {
      throw CallFailure(.invalid, "max_concurrent_runs is \(raw.max_concurrent_runs), more than \(Limits.concurrentRuns)")
    }
    guard raw.signature == nil, raw.function == nil else {
      throw CallFailure(.unsupported, "typed handlers (signature) are not offered by this version: register a handler")
    }
    guard let function = raw.handler else { throw CallFailure(.invalid, "handler is NULL") }
    return PluginHandler(
      registered: PluginHandler.Registration(
        identifier: identifier, kind: kind,
        budget: raw.budget_ms == 0 ? nil : .milliseconds(Int64(clamping: raw.budget_ms)),
        maxConcurrentRuns: raw.max_concurrent_runs == 0 ? 1 : Int(raw.max_concurrent_runs),
        displayName: try Borrowed.optionalText(raw.display_name, named: "display_name", limit: 256)?.escapingControlCharacters,
        version: try Borrowed.optionalText(raw.version, named: "version", limit: 64)?.escapingControlCharacters),
      function: function, context: raw.context)
  }
}

/// Finds the open launch that a handle names.
enum LaunchTable {
  private struct Entries {
    var sessions: [taskhost_launch: LaunchSession] = [:]
    /// Far from small numbers, so that a forgotten variable names no launch.
    var last: taskhost_launch = 0x5441_534B_0000_0000
  }

  private static let entries = Mutex(Entries())

  static func open(_ session: LaunchSession) -> taskhost_launch {
    entries.withLock { entries in
      entries.last += 1
      entries.sessions[entries.last] = session
      return entries.last
    }
  }

  static func close(_ handle: taskhost_launch) { _ = entries.withLock { $0.sessions.removeValue(forKey: handle) } }

  static func find(_ handle: taskhost_launch) throws(CallFailure) -> LaunchSession {
    guard let session = entries.withLock({ $0.sessions[handle] }) else { throw .launchIsOver }
    return session
  }
}

extension CallFailure {
  /// The answer to every call of the launch phase after it.
  static let launchIsOver = CallFailure(.launched, "launch is over: register during taskhost_plugin_launch")
}

extension TaskKind {
  /// The kind with that number in the plugin contract.
  init?(code: taskhost_kind) {
    switch Int(code) {
    case Int(TASKHOST_REFRESH): self = .refresh
    case Int(TASKHOST_PROCESSING): self = .processing
    case Int(TASKHOST_CONTINUED): self = .continued
    default: return nil
    }
  }
}

extension LogLine.Level {
  /// The level with that number in the plugin contract.
  init(_ code: taskhost_log_level) throws(CallFailure) {
    guard Self.allCases.indices.contains(Int(code)) else { throw CallFailure(.invalid, "log level \(code) is none of TASKHOST_TRACE … TASKHOST_ERROR") }
    self = Self.allCases[Int(code)]
  }
}
