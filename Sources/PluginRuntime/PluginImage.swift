import CTaskHost
import Glibc
import HostThreads
public import TaskModel

/// Why a plugin could not be launched.
public struct LaunchFailure: Error, Sendable, Hashable {
  /// At which step.
  public enum Step: String, Sendable {
    /// The dynamic loader refused it.
    case load
    /// Its launch function did not return in time.
    case timeout
    /// Its launch function returned a status that is not OK.
    case status
    /// It registered nothing, or what it registered was refused.
    case registration
    /// It registered more than it may.
    case registeredTwice
    /// The identifier is another plugin's.
    case identifierTaken
    /// The identifier is not permitted.
    case notPermitted
  }

  /// At which step.
  public var step: Step
  /// What was seen.
  public var observed: String

  /// A failure as given.
  public init(step: Step, observed: String) {
    self.step = step
    self.observed = observed
  }
}

/// What a launched plugin is to the host.
public struct LaunchedPlugin: Sendable {
  /// Its handlers; one, unless it declared a higher limit.
  public let handlers: [PluginHandler]
  /// What it submitted while launching, to be committed once the registry is sealed.
  public let requests: [TaskRequest]
  /// Its shutdown hook.
  public let shutdown: ShutdownHook?
}

/// `taskhost_plugin_shutdown` of a plugin.
public struct ShutdownHook: @unchecked Sendable {  // reason: a function's address, callable from any thread
  let function: @convention(c) () -> Void
}

/// Loads a plugin into this process and calls its launch function, inside the launch budget.
///
/// The code runs on a thread of its own. When the budget is over, that thread is left behind: a process cannot end one of its threads.
public enum PluginImage {
  /// - Parameters:
  ///   - path: The file. It is never unloaded.
  ///   - identifier: Who the plugin is, where the configuration says so.
  ///   - handlerLimit: What the file declares as `taskhost_plugin_handler_limit`, 1 if it does not.
  ///   - budget: How long loading and launching may take together.
  public static func launch(
    path: String, identifier: TaskIdentifier?, handlerLimit: Int, budget: Duration, policy: any LaunchPolicy
  ) throws(LaunchFailure) -> LaunchedPlugin {
    let attempt = LaunchAttempt(path: path, identifier: identifier, handlerLimit: handlerLimit, policy: policy)
    do {
      try HostThread.start("launch") { attempt.perform() }
    } catch {
      throw LaunchFailure(step: .load, observed: error.description)
    }
    return try attempt.outcome(by: SystemClock.now + budget, budget: budget)
  }

  /// Calls each hook on a thread of its own and waits until all have returned, at most 5 s.
  ///
  /// - Returns: How many have not.
  public static func shutDown(_ hooks: [ShutdownHook]) -> Int {
    let monitor = Monitor()
    let left = Counter(hooks.count)
    for hook in hooks {
      let call: @Sendable () -> Void = {
        hook.function()
        monitor.locked {
          left.value -= 1
          monitor.broadcast()
        }
      }
      do { try HostThread.start("shutdown", call) } catch { monitor.locked { left.value -= 1 } }
    }
    let deadline = SystemClock.now + .seconds(5)
    return monitor.locked {
      while left.value > 0, monitor.wait(until: deadline) {}
      return left.value
    }
  }

  private final class Counter: @unchecked Sendable {  // reason: touched with the monitor of `shutDown` held
    var value: Int
    init(_ value: Int) { self.value = value }
  }
}

/// One launch on a thread of its own.
private final class LaunchAttempt: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private let path: String
  private let identifier: TaskIdentifier?
  private let handlerLimit: Int
  private let policy: any LaunchPolicy
  private let monitor = Monitor()
  private var result: Result<LaunchedPlugin, LaunchFailure>?
  private var stage = "loading"

  init(path: String, identifier: TaskIdentifier?, handlerLimit: Int, policy: any LaunchPolicy) {
    self.path = path
    self.identifier = identifier
    self.handlerLimit = handlerLimit
    self.policy = policy
  }

  func outcome(by deadline: MonotonicTime, budget: Duration) throws(LaunchFailure) -> LaunchedPlugin {
    monitor.lock()
    defer { monitor.unlock() }
    while result == nil, monitor.wait(until: deadline) {}
    guard let result else {
      throw LaunchFailure(step: .timeout, observed: "\(stage) took longer than the launch budget of \(budget.wholeMilliseconds) ms")
    }
    return try result.get()
  }

  func perform() {
    let result = Result<LaunchedPlugin, LaunchFailure> { () throws(LaunchFailure) in try load() }
    monitor.locked {
      self.result = result
      monitor.broadcast()
    }
  }

  private func load() throws(LaunchFailure) -> LaunchedPlugin {
    guard let image = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
      throw LaunchFailure(step: .load, observed: dlerror().map { String(cString: $0) } ?? "dlopen failed")
    }
    guard let entry = dlsym(image, "taskhost_plugin_launch") else {
      throw LaunchFailure(step: .load, observed: "it has no taskhost_plugin_launch")
    }
    let launch = unsafeBitCast(entry, to: (@convention(c) (UnsafePointer<taskhost_api>?, taskhost_launch) -> taskhost_status).self)
    let shutdown = dlsym(image, "taskhost_plugin_shutdown").map {
      ShutdownHook(function: unsafeBitCast($0, to: (@convention(c) () -> Void).self))
    }
    monitor.locked { stage = "taskhost_plugin_launch" }
    var result = try call(launch, identifier: identifier)
    if result.askedTooEarly, identifier == nil, let known = result.handlers.first?.registered.identifier {
      // The first call was a probe for the identifier: now the plugin gets its settings and folder.
      result = try call(launch, identifier: known)
    }
    return LaunchedPlugin(handlers: result.handlers, requests: result.requests, shutdown: shutdown)
  }

  private func call(
    _ launch: @convention(c) (UnsafePointer<taskhost_api>?, taskhost_launch) -> taskhost_status, identifier: TaskIdentifier?
  ) throws(LaunchFailure) -> LaunchSession.Result {
    let session = LaunchSession(policy: policy, identifier: identifier, handlerLimit: handlerLimit)
    let handle = LaunchTable.open(session)
    LastError.set("")
    let status = launch(HostTable.shared, handle)
    LaunchTable.close(handle)
    let result = session.close()
    if let flaw = result.flaw, flaw.status == .exists, !result.handlers.isEmpty {
      throw LaunchFailure(step: .registeredTwice, observed: "it registered twice: \(flaw.message)")
    }
    if let flaw = result.flaw, result.handlers.isEmpty {
      let step: LaunchFailure.Step =
        switch flaw.status {
        case .exists: .identifierTaken
        case .notPermitted: .notPermitted
        default: .registration
        }
      throw LaunchFailure(step: step, observed: "its registration was refused: \(flaw.message)")
    }
    guard status == taskhost_status(TASKHOST_OK) else {
      let sentence = String(cString: LastError.get())
      throw LaunchFailure(
        step: .status, observed: "taskhost_plugin_launch returned \(status)" + (sentence.isEmpty ? "" : ": \(sentence)"))
    }
    guard !result.handlers.isEmpty else { throw LaunchFailure(step: .registration, observed: "it registered no handler") }
    return result
  }
}
