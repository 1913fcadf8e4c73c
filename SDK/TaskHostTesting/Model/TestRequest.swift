public import FoundationEssentials
public import TaskHostSDK
import TaskModel

/// A request with everything that an application or an operator can ask for, for ``TestHost/submit(_:)``.
///
/// ```swift
/// var nightly = try TestRequest(payload: ["full": true])
/// nightly.repetition = .cron("0 3 * * *", timeZone: "Europe/Berlin")
/// try host.submit(nightly)
/// ```
public struct TestRequest: Sendable {
  /// When a request repeats.
  public enum Repetition: Sendable, Equatable {
    /// At this interval, on a grid that does not drift; shorter ones are raised to ``TestHostOptions/minimumInterval``.
    case every(Duration)
    /// At the times of a five-field cron expression, or of a name such as `@daily`, in a time zone such as `Europe/Berlin`.
    case cron(String, timeZone: String = "UTC")
    /// With each event named by ``TestRequest/event``.
    case event
  }

  /// A request that must end first.
  public struct Predecessor: Sendable, Equatable {
    /// The id of the request that must end first.
    public var requestID: String
    /// Whether the request also runs if the predecessor fails or is cancelled; otherwise it ends as the predecessor did.
    public var ignoresFailure: Bool

    /// Creates a predecessor from its id.
    public init(_ requestID: String, ignoresFailure: Bool = false) {
      self.requestID = requestID
      self.ignoresFailure = ignoresFailure
    }
  }

  /// The handler's identifier; `nil`: the first one registered.
  public var identifier: String?
  /// The payload for the handler.
  public var payload: [UInt8]
  /// The least virtual time before the run, which setting the wall clock does not change. Default: none.
  public var delay = Duration.zero
  /// The earliest wall-clock time of the run; a ``delay`` takes precedence. Default `nil`: at once.
  public var earliestBegin: Date?
  /// The conditions that the run requires.
  public var conditions: TaskHostSDK.Conditions = []
  /// The request's unique name within its identifier.
  public var uniqueKey: String?
  /// What to do when a live request holds the unique key.
  public var onConflict = TaskHostSDK.ConflictPolicy.none
  /// −10 … 10; higher goes first.
  public var priority = 0
  /// When the request repeats; `nil`: it runs once.
  public var repetition: Repetition?
  /// The event it waits for, see ``TestHost/post(_:payload:)``.
  public var event: String?
  /// The time between the last event of a burst and the run.
  public var debounce = Duration.zero
  /// The requests that must end first.
  public var after: [Predecessor] = []
  /// The maintenance window that the request waits for, one of ``TestHostOptions/windows``.
  public var window: String?
  /// After this much virtual time, only the network and power conditions apply, and no window or quota.
  public var deadline: Duration?
  /// Runs with the same key share ``TestLimits/runsPerKey``.
  public var concurrencyKey: String?
  /// How many tokens of ``TestHostOptions/resources`` its run takes.
  public var resources: [String: Int] = [:]

  /// The `traceparent` with which it is submitted; `nil`: none.
  public var traceparent: String?

  /// Creates a request that is due at once and runs once.
  ///
  /// - Parameters:
  ///   - identifier: The handler's identifier; `nil`: the first one registered.
  ///   - payload: The payload for the handler: a value that is encoded as JSON, `.json(…)`, or `[UInt8]` unchanged. Default: empty.
  /// - Throws: `EncodingError`.
  public init(_ identifier: String? = nil, payload: some Encodable = [UInt8]()) throws {
    self.identifier = identifier
    self.payload = try TestJSON.bytes(of: payload)
  }

  func taskRequest(for identifier: String, now: WallTime) throws -> TaskModel.TaskRequest {
    let name: TaskIdentifier
    do { name = try TaskIdentifier(identifier) } catch { throw TestHostError.notPossible(error.description) }
    guard payload.count <= Limits.payloadBytes else {
      throw TestHostError.notPossible("the payload has \(payload.count) bytes, more than \(Limits.payloadBytes)")
    }
    var request = TaskModel.TaskRequest(
      identifier: name, payload: payload, earliestBegin: delay > .zero ? now + delay : nil,
      conditions: TaskModel.Conditions(rawValue: conditions.rawValue), priority: priority, uniqueKey: uniqueKey,
      onConflict: TaskModel.ConflictPolicy(onConflict))
    switch repetition {
    case .every(let interval): request.repetition = RepeatRule(every: interval)
    case .cron(let expression, let zone): request.repetition = RepeatRule(.cron(CronRule(expression, timeZone: zone)))
    case .event: request.repetition = RepeatRule(.event)
    case nil: break
    }
    if delay > .zero {
      request.clock = .boot
    } else {
      request.earliestBegin = earliestBegin.map { WallTime($0) }
      request.clock = request.repetition?.clock ?? .wall
    }
    request.event = event.map { EventTrigger($0, debounce: debounce) }
    request.after = try after.map { predecessor in
      guard let id = RequestID(predecessor.requestID) else {
        throw TestHostError.nothingThere("there is no request \(predecessor.requestID)")
      }
      return Dependency(.request(id), onFailure: predecessor.ignoresFailure ? .ignore : .fail)
    }
    request.gates.window = window
    request.gates.concurrencyKey = concurrencyKey
    request.gates.resources = resources
    request.deadline = deadline.map { now + $0 }
    if let traceparent {
      do { request.traceparent = try TraceParent(field: traceparent) } catch { throw TestHostError.notPossible(error.message) }
    }
    return request
  }
}
