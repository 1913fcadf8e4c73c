public import FoundationEssentials

/// A request for a run, as a plugin submits it.
///
/// The initializers take what most requests need. Everything else is a property, with the meaning that the option of `taskhost submit` with
/// the same name has:
///
/// ```swift
/// var nightly = try TaskRequest(identifier: task.identifier, json: Payload(full: true), uniqueKey: "nightly", onConflict: .update)
/// nightly.repetition = .cron("30 2 * * *", timeZone: "Europe/Berlin")
/// nightly.retry = TaskRequest.Retry(attempts: 3, initial: .seconds(60))
/// nightly.tags = ["backup"]
/// try task.submit(nightly)
/// ```
///
/// The host refuses a value beyond its limit and fields that contradict each other with `TASKHOST_EINVAL`, and names the field.
public struct TaskRequest: Sendable {
  /// The task identifier: the plugin's own, or one that the operator permits.
  public var identifier: String

  /// The bytes for the run, JSON by convention; at most 65,536.
  public var payload: [UInt8]

  /// The earliest start on the host's clock, rounded up to milliseconds; `nil` or a past time means now.
  public var earliestBegin: Date?

  /// The request's unique name within its identifier, 1 to 256 bytes of UTF-8; `nil`: none.
  public var uniqueKey: String?

  /// What to do when a live request holds the unique key. Anything but ``ConflictPolicy/none`` needs a ``uniqueKey``.
  public var onConflict: ConflictPolicy

  /// The conditions that the run requires.
  public var conditions: Conditions

  // MARK: When it runs

  /// The least time before the run, instead of ``earliestBegin``; time in which the machine sleeps counts. Rounded up to milliseconds.
  public var delay: Duration?

  /// From then on, of the conditions only network and power count, and no window or quota; `nil`: no deadline.
  public var deadline: Date?

  /// When the request repeats; `nil`: it runs once. A request that repeats ends only when it is cancelled. One that is submitted during
  /// launch needs a ``uniqueKey`` with an ``onConflict``, or an ``idempotencyKey``, because the next launch submits it again.
  public var repetition: Repetition?

  /// How much later than due a run may start, so that requests can share wake-ups.
  public var flex = Duration.zero

  /// How much later than its times the request may start. Which share of it, is fixed for the request on its host and differs between
  /// hosts, so that not all of them start at once.
  public var jitter = Duration.zero

  /// Whether a sleeping machine is woken when the request is due, where the host may and the machine can; else it runs once the machine is
  /// awake. The operator allows it with `may_wake = true` in the plugin's table.
  public var wake = false

  /// The event that the request waits for; `nil`: none. Events are the whole host's: anyone who may notify the event wakes the request,
  /// and a payload that comes with the event replaces its own in that run.
  public var event: String?

  /// The absolute path of a file or directory: the request runs when it appears, changes or goes. Instead of ``event``; with ``Repetition/event``
  /// it runs each time. The path lies at or below the plugin's entitlements `read` and `write` or its data directory. A change while the
  /// host does not run is not an event. `nil`: none.
  public var watch: String?

  /// The time from the last event of a burst to the run.
  public var debounce = Duration.zero

  /// The requests that must end first. If the payloads are JSON, their outputs become a part of this request's payload.
  public var after: [Predecessor] = []

  /// The maintenance window that the request waits for, by its name in the host's configuration; `nil`: none.
  public var window: String?

  // MARK: How it runs

  /// −10 … 10; a request with a higher priority goes first.
  public var priority = 0

  /// How often and how soon the request is tried again; `nil`: as the operator has set.
  public var retry: Retry?

  /// What a run does when a condition that it requires is lost; `nil`: as the operator has set.
  public var onLostCondition: LostCondition?

  /// Tags for listing and cancelling: at most 32, each 1 to 256 bytes of UTF-8.
  public var tags: [String] = []

  /// How many tokens a run takes of the operator's named resources; at most 16 names.
  public var resources: [String: Int] = [:]

  /// Runs with the same key share the operator's limit; `nil`: no key.
  public var concurrencyKey: String?

  /// The hosts of a fleet that get the request first: a label, a host's name, or `last_host` for the one on which it ran last. Others take it
  /// once it has been due for 5 s. Without effect for an identifier that hosts do not share. `nil`: all are the same.
  public var prefer: String?

  // MARK: How often it counts

  /// A second submission with the same key does nothing and gets the first one's answer; `nil`: each submission counts. The keys of a
  /// plugin are its own; at most 10,000 are on record, each as long as its request and the host's history.
  public var idempotencyKey: String?

  /// How long after the submission the ``uniqueKey`` stays held, even if the request has ended; `nil`: only while the request is live.
  public var uniqueWindow: Duration?

  // MARK: The trace that it belongs to

  /// The `traceparent` (W3C Trace Context) of the caller, such as ``TaskContext/trace``'s; `nil`: none. The request's runs can continue it.
  public var traceparent: String?

  /// Creates a request with a payload of bytes.
  public init(
    identifier: String, payload: [UInt8] = [], earliestBegin: Date? = nil, uniqueKey: String? = nil, onConflict: ConflictPolicy = .none,
    conditions: Conditions = []
  ) {
    self.identifier = identifier
    self.payload = payload
    self.earliestBegin = earliestBegin
    self.uniqueKey = uniqueKey
    self.onConflict = onConflict
    self.conditions = conditions
  }

  /// Creates a request whose payload is `json`, encoded as JSON.
  ///
  /// - Throws: `EncodingError`.
  public init(
    identifier: String, json: some Encodable, earliestBegin: Date? = nil, uniqueKey: String? = nil, onConflict: ConflictPolicy = .none,
    conditions: Conditions = []
  ) throws {
    self.init(
      identifier: identifier, payload: try JSON.encode(json), earliestBegin: earliestBegin, uniqueKey: uniqueKey, onConflict: onConflict,
      conditions: conditions)
  }
}
