/// A plugin: one type that handles the runs of one task identifier.
///
/// ```swift
/// import TaskHostSDK
///
/// struct Hello: BackgroundTask {
///   static let identifier = "org.example.hello"
///   init(_ launch: LaunchContext<NoSettings>) {}
///   func run(_ task: TaskContext<NoPayload>) async throws -> TaskResult {
///     task.logger.info("hello")
///     return .success
///   }
/// }
///
/// @c(taskhost_plugin_launch)
/// public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
///   TaskHostPlugin.launch(Hello.self, api, launch)
/// }
/// ```
///
/// One instance serves all runs of its host process, so it is `Sendable`; with ``maxConcurrentRuns`` above 1 several runs use it at once.
/// A request may be run again after a crash, a lost worker, a retry or an expiration: ``run(_:)`` must be idempotent, with
/// ``TaskContext/requestID`` as the key.
public protocol BackgroundTask: Sendable {
  /// The data of a request, decoded from JSON before ``run(_:)``. Empty bytes are decoded as `{}`.
  ///
  /// A payload that does not decode ends the run as a failure whose message names the place.
  associatedtype Payload: Decodable & Sendable = NoPayload

  /// The operator's configuration of the plugin, decoded from JSON at launch. Without settings, `{}` is decoded.
  ///
  /// Settings that do not decode refuse the launch, with a line in the host's log that names the place.
  associatedtype Settings: Decodable & Sendable = NoSettings

  /// The task identifier: 1 to 128 of `A-Z a-z 0-9 . _ -`, the first a letter or digit.
  static var identifier: String { get }

  /// Decides the default budget and grace. Default: ``TaskKind/refresh``.
  static var kind: TaskKind { get }

  /// A name for people, at most 256 bytes of UTF-8. Default: none.
  static var displayName: String? { get }

  /// The plugin's own version, at most 64 bytes of UTF-8. Default: none.
  static var version: String? { get }

  /// The time that a run may take, above zero, rounded up to milliseconds. Default `nil`: the kind's budget.
  ///
  /// It may shorten the kind's budget; only the operator's configuration lengthens it.
  static var budget: Duration? { get }

  /// The maximum number of concurrent runs of this identifier, 1 to 1024. Default: 1.
  static var maxConcurrentRuns: Int { get }

  /// Creates the instance that serves the runs. Called on the host's launch thread, and again if the host probes the plugin or restarts a
  /// worker, so it must not do I/O with lasting effects.
  ///
  /// - Throws: Anything; the launch is refused and the error's description goes to the host's log.
  init(_ launch: LaunchContext<Settings>) throws

  /// Does the work of one run.
  ///
  /// Runs on the run's own thread, also after each suspension and in child tasks, so blocking calls are allowed. An actor that concurrent
  /// runs share can run on any of their threads. A worker's main thread serves the main queue, so `@MainActor` code runs; with `isolation =
  /// "thread"` nothing serves that queue, and such code waits forever.
  ///
  /// At expiration, the Swift task of this function is cancelled; it then has ``TaskContext/grace`` to return. Await unstructured tasks
  /// before returning: for the host, the run is complete when this function returns.
  ///
  /// - Throws: ``TaskFailure`` to choose the outcome and the operator's message. Any other error is a retry with its description as the
  ///   message. `CancellationError` after expiration is a retry.
  func run(_ task: TaskContext<Payload>) async throws -> TaskResult

  /// Called instead of ``run(_:)`` once all files of a transfer have ended that the plugin submitted through ``TaskContext/transfers``, in
  /// one run. Downloads have been moved to where they belong. Default: success.
  ///
  /// - Throws: As ``run(_:)``. After a retry it is called again; files that were moved stay where they are.
  func transfersEnded(_ completion: TransferCompletion, _ task: TaskContext<NoPayload>) async throws -> TaskResult
}

extension BackgroundTask {
  /// Short and frequent work.
  public static var kind: TaskKind { .refresh }
  /// None.
  public static var displayName: String? { nil }
  /// None.
  public static var version: String? { nil }
  /// The kind's.
  public static var budget: Duration? { nil }
  /// One.
  public static var maxConcurrentRuns: Int { 1 }
  /// Success.
  public func transfersEnded(_ completion: TransferCompletion, _ task: TaskContext<NoPayload>) async throws -> TaskResult { .success }
}
