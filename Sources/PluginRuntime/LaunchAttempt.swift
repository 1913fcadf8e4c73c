import CTaskHost
import Glibc
import HostThreads
import TaskModel
import TypedCalls

/// One launch, on the thread that calls ``perform()``; another thread may abandon it.
final class LaunchAttempt: Sendable {
  private typealias Function = @convention(c) (UnsafePointer<taskhost_api>?, taskhost_launch) -> taskhost_status

  private let order: LaunchOrder
  private let state = Guarded(State())

  private struct State {
    var stage = "loading"
    /// Whether the budget is spent: the thread's further work has no effect, and its session is closed.
    var isOver = false
    var open: (handle: taskhost_launch, session: LaunchSession)?
  }

  init(_ order: LaunchOrder) { self.order = order }

  /// Closes the launch permanently because its budget is spent.
  func abandon(_ budget: Duration) -> LaunchFailure {
    let (open, stage) = state.withLock { state in
      state.isOver = true
      return (state.open, state.stage)
    }
    if let open {
      LaunchTable.close(open.handle)
      open.session.close()
    }
    return LaunchFailure(step: .timeout, observed: "\(stage) took longer than the launch budget of \(budget.wholeMilliseconds) ms")
  }

  /// Loads and launches, on the calling thread.
  func perform() -> Result<LaunchedPlugin, LaunchFailure> {
    Result { () throws(LaunchFailure) in try load() }
  }

  private func load() throws(LaunchFailure) -> LaunchedPlugin {
    let path: String
    switch order.source {
    case .file(let file): path = file
    case .function(let launch): return launched(try launchKnowing(launch), shutdown: nil, mainQueue: nil)
    }
    guard let image = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
      throw LaunchFailure(step: .load, observed: dlerror().map { String(cString: $0) } ?? "dlopen failed")
    }
    if let adoption = order.adoption { return try adopt(adoption, image) }
    guard let entry = dlsym(image, "taskhost_plugin_launch") else {
      throw LaunchFailure(step: .load, observed: "it has no taskhost_plugin_launch")
    }
    let launch = unsafeBitCast(entry, to: Function.self)
    let shutdown = dlsym(image, "taskhost_plugin_shutdown").map {
      ShutdownHook(function: unsafeBitCast($0, to: (@convention(c) @Sendable () -> Void).self))
    }
    return launched(try launchKnowing { launch($0, $1) }, shutdown: shutdown, mainQueue: MainQueueServer(of: image))
  }

  private func launched(_ result: LaunchSession.Result, shutdown: ShutdownHook?, mainQueue: MainQueueServer?) -> LaunchedPlugin {
    LaunchedPlugin(
      handlers: result.handlers, changes: result.changes, shutdown: shutdown, mainQueue: mainQueue, askedTooEarly: result.askedTooEarly,
      askedForRequests: result.askedForRequests)
  }

  /// Registers the function of a library that knows nothing of taskhost.
  private func adopt(_ adoption: LibraryAdoption, _ image: UnsafeMutableRawPointer) throws(LaunchFailure) -> LaunchedPlugin {
    guard let address = dlsym(image, adoption.symbol) else {
      throw LaunchFailure(step: .load, observed: "its library has no \(adoption.symbol): undefined symbol")
    }
    let call: TypedCall
    do {
      let signature = try TypedSignature(adoption.typed.signature)
      call = try TypedCall(
        signature: signature, function: unsafeBitCast(address, to: TypedFunction.self),
        success: signature.result.successRules.isEmpty ? nil : adoption.typed.success)
    } catch { throw LaunchFailure(step: .registration, observed: "its registration was refused: signature: \(error)") }
    do { try order.policy.admit(adoption.identifier) } catch { throw Self.refusal(of: error) }
    let handler = PluginHandler(registered: adoption.registration, call: call)
    guard handler.registered == adoption.registration else {
      throw LaunchFailure(step: .registration, observed: "its registration was refused: its signature is not in its normal form")
    }
    return LaunchedPlugin(
      handlers: [handler], changes: [], shutdown: nil, mainQueue: MainQueueServer(of: image), askedTooEarly: false, askedForRequests: false)
  }

  /// The launch failure that follows from a refused registration.
  private static func refusal(of flaw: CallFailure) -> LaunchFailure {
    let step: LaunchFailure.Step =
      switch flaw.status {
      case .exists: .identifierTaken
      case .notPermitted: .notPermitted
      default: .registration
      }
    return LaunchFailure(step: step, observed: "its registration was refused: \(flaw.message)")
  }

  /// Calls the launch function again if the plugin asked for its settings before the host knew its identifier. The first call then only
  /// reveals the identifier: its submissions and cancellations are dropped.
  private func launchKnowing(_ launch: LaunchOrder.Entry) throws(LaunchFailure) -> LaunchSession.Result {
    let (status, first, sentence) = try call(launch, identifier: order.identifier)
    guard first.askedTooEarly, first.surplus == nil, let known = first.handlers.first?.registered.identifier else {
      return try checked(status, first, sentence)
    }
    let (secondStatus, second, secondSentence) = try call(launch, identifier: known)
    var result = try checked(secondStatus, second, secondSentence)
    result.askedTooEarly = true
    guard result.handlers.map(\.registered) == first.handlers.map(\.registered) else {
      throw LaunchFailure(
        step: .registration, observed: "its registration was refused: it registered something else when it was launched with its settings")
    }
    return result
  }

  /// One call of the launch function, with its `last_error`.
  private func call(
    _ launch: LaunchOrder.Entry, identifier: TaskIdentifier?
  ) throws(LaunchFailure) -> (taskhost_status, LaunchSession.Result, String) {
    guard let table = order.table ?? HostTable.shared else {
      throw LaunchFailure(step: .load, observed: "no memory is left for the host's table")
    }
    let session = LaunchSession(policy: order.policy, identifier: identifier, handlerLimit: order.handlerLimit)
    let handle = LaunchTable.open(session)
    defer { LaunchTable.close(handle) }
    let mayCall = state.withLock { state in
      state.stage = "taskhost_plugin_launch"
      state.open = (handle, session)
      return !state.isOver
    }
    guard mayCall else { throw LaunchFailure(step: .timeout, observed: "the launch budget was spent before taskhost_plugin_launch") }
    LastError.set("")
    let status = launch(table, handle)
    state.withLock { $0.open = nil }
    return (status, session.close(), String(cString: LastError.get()))
  }

  private func checked(
    _ status: taskhost_status, _ result: LaunchSession.Result, _ sentence: String
  ) throws(LaunchFailure) -> LaunchSession.Result {
    if let surplus = result.surplus { throw LaunchFailure(step: .registeredTwice, observed: "it registered twice: \(surplus.message)") }
    if let flaw = result.flaw, result.handlers.isEmpty { throw Self.refusal(of: flaw) }
    guard status == taskhost_status(TASKHOST_OK) else {
      let reason = sentence.isEmpty ? result.lastErrorLine ?? "" : sentence
      throw LaunchFailure(step: .status, observed: "taskhost_plugin_launch returned \(status)" + (reason.isEmpty ? "" : ": \(reason)"))
    }
    guard !result.handlers.isEmpty else { throw LaunchFailure(step: .registration, observed: "it registered no handler") }
    return result
  }
}
