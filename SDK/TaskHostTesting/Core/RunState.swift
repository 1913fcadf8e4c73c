import CTaskHost
import TaskHostSDK

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// One run in a test host, from its start until its thread has ended.
final class RunState: @unchecked Sendable {  // reason: everything that changes is touched with the lock of `core` held
  enum Phase {
    case live
    case returned
    /// Over, while its thread may still be at work.
    case forced
    /// Over, and its threads stay where they call the host.
    case killed
  }

  /// The one call of the expiration handler.
  enum Callback: Equatable {
    case none
    case calling
    case returned
  }

  let core: HostCore
  let plugin: HostedPlugin
  let handler: RegisteredHandler
  let handle: taskhost_task
  // The texts and the payload live as long as this object, which the thread of the run holds: longer than the handler.
  let identifierText: UnsafeMutablePointer<CChar>
  let requestIDText: UnsafeMutablePointer<CChar>
  let payloadMemory: UnsafeMutablePointer<UInt8>
  let budget: Duration?
  let grace: Duration
  /// How long it may go without progress; `nil`: forever.
  let stallLimit: Duration?

  var report: RunReport
  var phase = Phase.live
  var interruptions: [Interruption]

  // What its threads do, for the clock.
  var thread: pthread_t?
  /// Whether the handler's thread is neither asleep on the clock nor, in Swift, without work.
  var isWorking = true
  /// Threads of it in the host's sleep that are neither the handler's nor the expiration handler's.
  var otherSleepers = 0
  /// How often it asked for the time or its expiration since it has expired, and did nothing else.
  private var looks = 0

  // Expiration.
  var expirationHandler: taskhost_expiration_handler?
  var expirationContext: UnsafeMutableRawPointer?
  var callback = Callback.none
  var callbackThread: pthread_t?
  var isCallbackAsleep = false
  /// The moment by which it must have reported more; `nil`: none.
  var stallEnd: Duration?
  /// When it is stopped by force; `nil` while it has not expired.
  var forceAt: Duration?
  var highestCompleted: UInt64 = 0
  /// The two ends of a pipe, the first of which is readable once the run has expired; empty until it is asked for.
  private var descriptors: [Int32] = []

  init(
    core: HostCore, plugin: HostedPlugin, handler: RegisteredHandler, request: RequestRecord, interruptions: [Interruption]
  ) throws(TestHostError) {
    self.core = core
    self.plugin = plugin
    self.handler = handler
    self.interruptions = interruptions
    handle = try Registry.newHandle()
    identifierText = Self.text(handler.identifier)
    requestIDText = Self.text(request.id)
    let payload = request.submitted.payload
    payloadMemory = .allocate(capacity: payload.count + 1)
    payloadMemory.initialize(repeating: 0, count: payload.count + 1)
    payloadMemory.update(from: payload, count: payload.count)
    budget = core.options.budget ?? [handler.kind.budget, handler.budget].compactMap(\.self).min()
    grace = core.options.grace ?? handler.kind.grace
    stallLimit = handler.kind == .continued ? core.options.stallLimit : nil
    report = RunReport(
      identifier: handler.identifier, requestID: request.id, attempt: request.attempt, payload: payload, started: core.now)
    stallEnd = stallLimit.map { core.now + $0 }
  }

  deinit {
    identifierText.deallocate()
    requestIDText.deallocate()
    payloadMemory.deallocate()
    descriptors.forEach { close($0) }
  }

  private static func text(_ text: String) -> UnsafeMutablePointer<CChar> {
    let bytes = text.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    _ = UnsafeMutableBufferPointer(start: copy, count: bytes.count).initialize(from: bytes)
    return copy
  }

  /// When it expires by itself; `nil`: never.
  var deadline: Duration? { [budget.map { report.started + $0 }, stallEnd].compactMap(\.self).min() }

  /// Whole milliseconds until expiration: positive until the run has expired, not positive since.
  func remaining(at now: Duration) -> Int64 {
    if let expired = report.expiredAfter { return min(0, (report.started + expired - now).wholeMilliseconds) }
    return deadline.map { max(1, ($0 - now).wholeMilliseconds) } ?? .max
  }

  /// The descriptor that is readable once the run has expired; closed with this object.
  func expirationDescriptor() throws(CallFailure) -> Int32 {
    if let known = descriptors.first { return known }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw CallFailure(TASKHOST_EUNAVAILABLE, "no descriptor is left: \(String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    descriptors = ends
    if report.isExpired { signalDescriptor() }
    return ends[0]
  }

  /// Makes the descriptor readable, for good. Called once.
  func signalDescriptor() {
    guard let end = descriptors.last else { return }
    var byte: UInt8 = 1
    _ = write(end, &byte, 1)
  }

  /// Counts a call: one that only looks at the time or the expiration, or any other.
  func note(look: Bool) {
    looks = look && report.isExpired ? looks + 1 : 0
  }

  /// Whether it has expired and turns in a circle of looking and sleeping, in which no virtual time would ever pass: the clock does not
  /// wait for it.
  var ignoresExpiration: Bool { looks >= 10_000 }

  /// Whether the clock must wait for it.
  var holdsClock: Bool {
    if callback == .calling, !isCallbackAsleep { return true }
    guard isWorking, !ignoresExpiration else { return false }
    return !(core.options.handlersWaitForTheirThreads && otherSleepers > 0)
  }
}
