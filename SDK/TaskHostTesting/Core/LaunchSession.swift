import CTaskHost
import TaskHostSDK

/// One call of a launch function: open until it returns, then closed forever.
final class LaunchSession: @unchecked Sendable {  // reason: everything that changes is touched with the lock of `core` held
  private let core: HostCore
  private let plugin: HostedPlugin
  private let handlerLimit: Int
  private var identifier: String?
  private var isOpen = true
  /// Texts lent to the plugin until it has launched.
  private var lent: [UnsafeMutablePointer<CChar>] = []
  private var result = Result()

  /// What the plugin did.
  struct Result {
    var handlers: [RegisteredHandler] = []
    var changes: [Change] = []
    /// The first registration that was refused.
    var flaw: CallFailure?
    /// The first registration beyond those it may make.
    var surplus: CallFailure?
    /// It asked for settings or folder before the host knew who it is.
    var askedTooEarly = false
    /// The last line it logged as an error.
    var lastErrorLine: String?
  }

  /// What is carried out when the launch has succeeded.
  enum Change {
    case submit(SubmittedRequest)
    /// `nil`: of all its identifiers.
    case cancel(String?)
  }

  /// - Parameter identifier: Who the plugin is, where that is known before it registers.
  init(core: HostCore, plugin: HostedPlugin, identifier: String?, handlerLimit: Int) {
    self.core = core
    self.plugin = plugin
    self.identifier = identifier
    self.handlerLimit = handlerLimit
  }

  deinit { lent.forEach { $0.deallocate() } }

  /// Ends the session; every later call with its handle is answered `TASKHOST_ELAUNCHED`.
  func close() -> Result {
    core.monitor.locked {
      isOpen = false
      return result
    }
  }

  func register(_ pointer: UnsafePointer<taskhost_registration>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      do throws(CallFailure) {
        let handler = try RegisteredHandler(borrowed: pointer)
        try checkNumber(adding: handler.identifier)
        try checkIdentifier(handler.identifier)
        result.handlers.append(handler)
        identifier = identifier ?? handler.identifier
      } catch {
        result.flaw = result.flaw ?? error
        throw error
      }
    }
  }

  private func checkNumber(adding identifier: String) throws(CallFailure) {
    let surplus: CallFailure
    if registers(identifier) {
      surplus = CallFailure(TASKHOST_EEXISTS, "a second handler for \(identifier)")
    } else {
      guard result.handlers.count >= handlerLimit else { return }
      let limit = handlerLimit == 1 ? "one" : "at most \(handlerLimit)"
      surplus = CallFailure(TASKHOST_EEXISTS, "a second handler: a plugin registers \(limit)")
    }
    result.surplus = result.surplus ?? surplus
    throw surplus
  }

  private func checkIdentifier(_ identifier: String) throws(CallFailure) {
    if let permitted = core.options.permittedIdentifiers, !permitted.contains(where: { Pattern.matches($0, identifier) }) {
      throw CallFailure(TASKHOST_ENOTPERMITTED, "\(identifier) is not in permitted_identifiers")
    }
    if core.plugins.contains(where: { $0 !== plugin && $0.registers(identifier) }) {
      throw CallFailure(TASKHOST_EEXISTS, "\(identifier) is another plugin's")
    }
  }

  func configuration() throws(CallFailure) -> UnsafePointer<CChar>? {
    try whileOpen { () throws(CallFailure) in
      _ = try knownIdentifier()
      return lend(plugin.plugin.settings)
    }
  }

  func dataDirectory() throws(CallFailure) -> UnsafePointer<CChar>? {
    try whileOpen { () throws(CallFailure) in
      let identifier = try knownIdentifier()
      do throws(TestHostError) {
        return lend(Array(try DataDirectory.folder(of: identifier, in: core.dataDirectory).utf8))
      } catch {
        throw CallFailure(TASKHOST_EUNAVAILABLE, error.description)
      }
    }
  }

  func submit(_ pointer: UnsafePointer<taskhost_request>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      let request = try Borrowed.request(pointer)
      guard identifier != nil else {
        throw CallFailure(TASKHOST_ENOTPERMITTED, "register the handler before submitting requests")
      }
      if !registers(request.identifier) { try core.checkMaySubmit(plugin, request.identifier) }
      try hold(.submit(request))
    }
  }

  func log(_ level: taskhost_log_level, _ message: UnsafePointer<CChar>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      let line = LogLine(
        time: core.now, level: try HostTable.level(level), message: try Borrowed.message(message, named: "message"))
      if line.level == .error { result.lastErrorLine = line.message }
      core.launchLog.append(line)
    }
  }

  /// What is pending of the plugin's, from before this launch.
  func pending() throws(CallFailure) -> [PendingRequest] {
    try whileOpen { () throws(CallFailure) in
      guard !result.handlers.isEmpty else {
        throw CallFailure(TASKHOST_ENOTPERMITTED, "register the handler before listing requests")
      }
      return core.pending(of: result.handlers)
    }
  }

  /// Holds the cancellation of what is pending of an identifier that the plugin has registered; NULL: of all.
  func cancelPending(of pointer: UnsafePointer<CChar>?) throws(CallFailure) {
    try whileOpen { () throws(CallFailure) in
      guard let pointer else {
        guard !result.handlers.isEmpty else {
          throw CallFailure(TASKHOST_ENOTPERMITTED, "register the handler before cancelling requests")
        }
        return try hold(.cancel(nil))
      }
      let identifier = try Borrowed.identifier(pointer)
      guard registers(identifier) else { throw HostTable.notRegistered(identifier) }
      try hold(.cancel(identifier))
    }
  }

  private func registers(_ identifier: String) -> Bool { result.handlers.contains { $0.identifier == identifier } }

  private func hold(_ change: Change) throws(CallFailure) {
    guard result.changes.count < 1000 else {
      throw CallFailure(TASKHOST_ELIMIT, "more than 1,000 requests and cancellations in one launch")
    }
    result.changes.append(change)
  }

  private func whileOpen<Value>(_ body: () throws(CallFailure) -> Value) throws(CallFailure) -> Value {
    core.monitor.lock()
    defer { core.monitor.unlock() }
    guard isOpen else { throw .launchIsOver }
    return try body()
  }

  private func knownIdentifier() throws(CallFailure) -> String {
    guard let identifier else {
      result.askedTooEarly = true
      throw CallFailure(TASKHOST_ENOTFOUND, "the host does not know yet which plugin this is: register the handler first")
    }
    return identifier
  }

  private func lend(_ bytes: [UInt8]) -> UnsafePointer<CChar> {
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
    for (index, byte) in bytes.enumerated() { (copy + index).initialize(to: CChar(bitPattern: byte)) }
    (copy + bytes.count).initialize(to: 0)
    lent.append(copy)
    return UnsafePointer(copy)
  }
}
