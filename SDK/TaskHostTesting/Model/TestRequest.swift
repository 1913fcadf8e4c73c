public import FoundationEssentials
public import TaskHostSDK
import TaskModel

/// A request with all that an application or an operator can ask for: what ``TestHost/submit(_:)`` takes.
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
    /// The times of a cron expression with five fields, or a name as `@daily`, in a time zone such as `Europe/Berlin`.
    case cron(String, timeZone: String = "UTC")
    /// With each event named by ``TestRequest/event``.
    case event
  }

  /// A request that must end first.
  public struct Predecessor: Sendable, Equatable {
    /// Its id.
    public var requestID: String
    /// Whether the request runs also if it fails or is cancelled; otherwise it ends as its predecessor did.
    public var ignoresFailure: Bool

    /// A request that must end first.
    public init(_ requestID: String, ignoresFailure: Bool = false) {
      self.requestID = requestID
      self.ignoresFailure = ignoresFailure
    }
  }

  /// Whose handler; `nil`: the only, or first, one registered.
  public var identifier: String?
  /// What the handler is given.
  public var payload: [UInt8]
  /// Not before that much virtual time has passed, also if the wall clock is set meanwhile. Default: none.
  public var delay = Duration.zero
  /// Not before the wall clock shows that time; with a ``delay``, that counts instead. Default `nil`: at once.
  public var earliestBegin: Date?
  /// What must hold for it to run.
  public var conditions: TaskHostSDK.Conditions = []
  /// Its name within its identifier.
  public var uniqueKey: String?
  /// What to do when a live request holds the name.
  public var onConflict = TaskHostSDK.ConflictPolicy.none
  /// −10 … 10; higher goes first.
  public var priority = 0
  /// `nil`: it runs once.
  public var repetition: Repetition?
  /// The event it waits for, see ``TestHost/post(_:payload:)``.
  public var event: String?
  /// How long after the last event of a burst its run begins.
  public var debounce = Duration.zero
  /// The requests that must end first.
  public var after: [Predecessor] = []
  /// The maintenance window it waits for, one of ``TestHostOptions/windows``.
  public var window: String?
  /// After that much virtual time, of its conditions only network and power apply, and no window or quota.
  public var deadline: Duration?
  /// Runs with the same key share the limit for each key.
  public var concurrencyKey: String?
  /// How many tokens of ``TestHostOptions/resources`` its run takes.
  public var resources: [String: Int] = [:]

  /// A request that is due at once and runs once.
  ///
  /// - Parameters:
  ///   - identifier: Whose handler; `nil`: the only, or first, one registered.
  ///   - payload: What the handler is given: a value that is encoded as JSON, `.json(…)`, or `[UInt8]` as they are. Default: nothing.
  /// - Throws: `EncodingError`.
  public init(_ identifier: String? = nil, payload: some Encodable = [UInt8]()) throws {
    self.identifier = identifier
    self.payload = try TestJSON.bytes(of: payload)
  }

  /// As the host takes it.
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
    return request
  }
}
