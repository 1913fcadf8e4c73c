import CTaskHost
import Glibc
import HostThreads
import TaskModel

/// One call of `taskhost_plugin_launch`: open until it returns or its time is up, then closed for ever.
final class LaunchSession: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private let policy: any LaunchPolicy
  private let handlerLimit: Int
  private let monitor = Monitor()
  private var isOpen = true
  private var identifier: TaskIdentifier?
  private var result = Result()
  /// Texts lent to the plugin, freed with the session.
  private var lent: [UnsafeMutablePointer<CChar>] = []
  private static let requestLimit = 1000
  /// Bytes of all their payloads.
  private static let payloadLimit = 2 << 20
  private var payloadBytes = 0

  /// What the plugin did.
  struct Result {
    var handlers: [PluginHandler] = []
    var requests: [TaskRequest] = []
    /// The first registration that was refused.
    var flaw: CallFailure?
    /// The first registration beyond those it may make.
    var surplus: CallFailure?
    /// It asked for settings or folder before the host knew who it is.
    var askedTooEarly = false
    /// The last line it logged as an error.
    var lastErrorLine: String?
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
  @discardableResult func close() -> Result {
    monitor.locked {
      isOpen = false
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

  func submit(_ pointer: UnsafePointer<taskhost_request>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      let request = try TaskRequest(borrowed: pointer)
      guard let identifier else { throw CallFailure(.notPermitted, "register the handler before submitting requests") }
      try policy.admit(request, from: identifier)
      guard result.requests.count < Self.requestLimit else { throw CallFailure(.limit, "more than 1,000 requests in one launch") }
      guard payloadBytes + request.payload.count <= Self.payloadLimit else {
        throw CallFailure(.limit, "more than 2 MiB of payloads in one launch")
      }
      payloadBytes += request.payload.count
      result.requests.append(request)
    }
  }

  func log(_ level: taskhost_log_level, _ message: UnsafePointer<CChar>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      let line = LogLine(
        time: SystemClock().wallTime, level: try LogLine.Level(level), message: try Borrowed.message(message, named: "message"))
      if line.level == .error { result.lastErrorLine = line.message }
      policy.log(line)
    }
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
