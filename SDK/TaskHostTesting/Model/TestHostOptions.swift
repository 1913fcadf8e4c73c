public import FoundationEssentials
public import TaskHostSDK

/// What an operator decides about a host, and how a test wants it.
public struct TestHostOptions: Sendable {
  /// The wall clock when the test host begins. Default: 2026-01-01 00:00:00 UTC, the same in each run of a test; a handler that compares it
  /// with the times of files wants `Date()`.
  public var start = Date(timeIntervalSince1970: 1_767_225_600)
  /// The budget of every run, instead of the plugin's; may be longer. Default `nil`: the plugin's, or its kind's.
  public var budget: Duration?
  /// The grace of every run, instead of its kind's. Default `nil`: the kind's.
  public var grace: Duration?
  /// How long a continued run may go without progress. Default: 60 s.
  public var stallLimit = Duration.seconds(60)
  /// Identifiers that plugins may submit to beside their own; a final `*` is a wildcard. Default: none.
  public var maySubmit: [String] = []
  /// Identifiers that may register; a final `*` is a wildcard. Default `nil`: any.
  public var permittedIdentifiers: [String]?
  /// How many attempts a request has. Default: 5.
  public var attempts = 5
  /// The first backoff after a retry; it doubles up to 5 h, without the real host's jitter. Default: 30 s.
  public var initialBackoff = Duration.seconds(30)
  /// The conditions that hold in the beginning. Default: all.
  public var conditions: Conditions = [.network, .unmetered, .power, .idle, .batteryNotLow, .storageNotLow]
  /// The folder for the plugins' data, one in it for each identifier; it is yours to remove. Default `nil`: a temporary one, removed with
  /// the test host.
  public var dataDirectory: String?
  /// How long, in real time, handlers may keep the clock from moving before the test is told that it is stuck. Default: 60 s.
  public var watchdog = Duration.seconds(60)
  /// Whether a handler whose own thread is at work, but another of whose threads is in the host's `sleep`, counts as asleep: for a handler
  /// that starts threads and joins them. Default: false.
  public var handlersWaitForTheirThreads = false

  /// How many runs there may be at once. Default: 16.
  public var maxConcurrentRuns = 16
  /// The shortest interval at which a request may repeat; shorter ones are raised to it. Default: 15 min, as in a host.
  public var minimumInterval = Duration.seconds(900)
  /// Maintenance windows by name. Default: none.
  public var windows: [String: TestWindow] = [:]
  /// How many tokens the host has of each named resource. Default: none.
  public var resources: [String: Int] = [:]
  /// What is limited for single identifiers. Default: nothing.
  public var limits: [String: TestLimits] = [:]

  /// The defaults.
  public init() {}
}
