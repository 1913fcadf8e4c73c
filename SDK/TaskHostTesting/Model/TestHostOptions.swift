public import FoundationEssentials
public import TaskHostSDK

/// The settings of a test host, most of which an operator decides in a real one.
public struct TestHostOptions: Sendable {
  /// The wall clock when the test host begins. Default: 2026-01-01 00:00:00 UTC, so that every test run sees the same time. For a handler
  /// that compares it with file times, set `Date()`.
  public var start = Date(timeIntervalSince1970: 1_767_225_600)
  /// The budget of every run, instead of the plugin's; it may be longer. Default `nil`: the plugin's, or that of its kind.
  public var budget: Duration?
  /// The grace of every run. Default `nil`: that of its kind.
  public var grace: Duration?
  /// How long a continued run may go without progress. Default: 60 s.
  public var stallLimit = Duration.seconds(60)
  /// Identifiers that plugins may submit to besides their own; a final `*` is a wildcard. Default: none.
  public var maySubmit: [String] = []
  /// Events that plugins may raise besides those named after them; a final `*` is a wildcard. Default: none.
  public var mayNotify: [String] = []
  /// Whether plugins may have files transferred: nothing is, until the test says so, see
  /// ``TestHost/completeTransfer(_:contents:failing:)``. Default: false.
  public var mayTransfer = false
  /// Whether requests of the plugins may wake the machine, as `may_wake` in the configuration allows it. Default: no.
  public var mayWake = false
  /// Identifiers that plugins may register; a final `*` is a wildcard. Default `nil`: any.
  public var permittedIdentifiers: [String]?
  /// The number of attempts of a request. Default: 5.
  public var attempts = 5
  /// The first backoff after a retry. It doubles up to 5 h, without the jitter of a real host. Default: 30 s.
  public var initialBackoff = Duration.seconds(30)
  /// The conditions that hold at the beginning. Default: all.
  public var conditions: Conditions = [.network, .unmetered, .power, .idle, .batteryNotLow, .storageNotLow]
  /// The parent folder of the plugins' data directories, one for each identifier. You remove it. Default `nil`: a temporary folder, removed
  /// with the test host.
  public var dataDirectory: String?
  /// How long, in real time, handlers may block the clock before the waiting test gets ``TestHostError/stuck(_:)``. Default: 60 s.
  public var watchdog = Duration.seconds(60)
  /// Whether a handler counts as asleep while its own thread works but another of its threads is in the host's `sleep`: for a handler that
  /// starts threads and joins them. Default: false.
  public var handlersWaitForTheirThreads = false

  /// The most runs at once. Default: 16.
  public var maxConcurrentRuns = 16
  /// The shortest interval of a repeating request; shorter ones are raised to it. Default: 15 min, as in a real host.
  public var minimumInterval = Duration.seconds(900)
  /// Maintenance windows by name. Default: none.
  public var windows: [String: TestWindow] = [:]
  /// How many tokens the host has of each named resource. Default: none.
  public var resources: [String: Int] = [:]
  /// The limits of what ``limits`` does not limit, as `profile` in a configuration. Default: ``TestProfile/server``.
  public var profile = TestProfile.server
  /// Limits by identifier. Default: none.
  public var limits: [String: TestLimits] = [:]

  /// Creates the default options.
  public init() {}
}
