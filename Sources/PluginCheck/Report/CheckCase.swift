/// A case of `taskhost plugins check`. All but the static cases run in their own process.
public enum CheckCase: String, Sendable, CaseIterable {
  /// The file is inspected as the host does.
  case file
  /// The ELF note agrees with the registration.
  case note
  /// Launched once.
  case launch
  /// Launched in a worker, as a host does.
  case worker
  /// Launched again, in the same process.
  case launchAgain = "launch-again"
  /// The host refuses the registration.
  case launchRefused = "launch-refused"
  /// Launched with settings that are not the plugin's.
  case launchSettings = "launch-settings"
  /// One run with the valid payload.
  case run
  /// The same request is run again.
  case runAgain = "run-again"
  /// Attempt numbers up to the highest.
  case attempts
  /// No payload.
  case payloadEmpty = "payload-empty"
  /// `{}`, and other JSON that is not the plugin's.
  case payloadObject = "payload-object"
  /// Text that is not JSON.
  case payloadNotJSON = "payload-not-json"
  /// Random bytes.
  case payloadRandom = "payload-random"
  /// The valid payload, damaged.
  case payloadDamaged = "payload-damaged"
  /// 65,536 bytes.
  case payloadLimit = "payload-limit"
  /// Expired before the handler begins.
  case expireBefore = "expire-before"
  /// Expired as soon as the handler begins.
  case expireAtOnce = "expire-at-once"
  /// Expired at random moments of the run.
  case expireInRun = "expire-in-run"
  /// A call is answered late in the grace.
  case expireInGrace = "expire-in-grace"
  /// Expired about when the handler returns.
  case expireAtReturn = "expire-at-return"
  /// The budget is spent.
  case expireBudget = "expire-budget"
  /// Every reason to stop.
  case expireReasons = "expire-reasons"
  /// The host drains in mid-run and shuts down.
  case drain
  /// Every durable call: `EUNAVAILABLE`.
  case storeUnavailable = "store-unavailable"
  /// Every write: `ELIMIT`.
  case storeLimit = "store-limit"
  /// Every durable call: `ETOOBIG`.
  case storeTooBig = "store-too-big"
  /// Durable calls fail at random.
  case storeFlaky = "store-flaky"
  /// State that another version wrote.
  case stateForeign = "state-foreign"
  /// A checkpoint that another version wrote.
  case checkpointForeign = "checkpoint-foreign"
  /// Submissions and cancellations are refused.
  case submitRefused = "submit-refused"
  /// The wall clock jumps forwards.
  case clockForward = "clock-forward"
  /// The wall clock jumps backwards.
  case clockBack = "clock-back"
  /// As many runs at once as the plugin allows.
  case concurrent
  /// Many runs in a row.
  case many
  /// What a run leaves behind.
  case leftBehind = "left-behind"
  /// The end of the process.
  case shutdown

  /// What is tried, for `--list` and the report.
  public var summary: String {
    switch self {
    case .file: "the file, as the host inspects it before it loads it"
    case .note: "the ELF note agrees with what is registered"
    case .launch: "a launch registers one handler, within the launch budget"
    case .worker: "a launch in a worker process, as bare and as confined as a host's"
    case .launchAgain: "a second launch in the same process registers the same"
    case .launchRefused: "the host refuses the registration"
    case .launchSettings: "settings that are not the plugin's"
    case .run: "a run with the valid payload"
    case .runAgain: "the same request runs again: at least once"
    case .attempts: "attempt numbers from 1 to the highest"
    case .payloadEmpty: "no payload"
    case .payloadObject: "JSON that is not the plugin's: {}, [], null, deep nesting"
    case .payloadNotJSON: "text that is not JSON"
    case .payloadRandom: "random bytes"
    case .payloadDamaged: "the valid payload, cut and damaged"
    case .payloadLimit: "payloads of 65,536 bytes"
    case .expireBefore: "expired before the handler begins"
    case .expireAtOnce: "expired as the handler begins"
    case .expireInRun: "expired at random moments of a run"
    case .expireInGrace: "a durable call is answered late in the grace"
    case .expireAtReturn: "expired about when the handler returns"
    case .expireBudget: "the budget is spent"
    case .expireReasons: "every reason to stop"
    case .drain: "the host drains in mid-run and shuts down"
    case .storeUnavailable: "state, checkpoint and submission: EUNAVAILABLE"
    case .storeLimit: "state and checkpoint cannot grow: ELIMIT"
    case .storeTooBig: "state and checkpoint: ETOOBIG"
    case .storeFlaky: "durable calls fail at random"
    case .stateForeign: "state that another version of the plugin wrote"
    case .checkpointForeign: "a checkpoint that another version of the plugin wrote"
    case .submitRefused: "submissions and cancellations are refused"
    case .clockForward: "the wall clock jumps forwards"
    case .clockBack: "the wall clock jumps backwards"
    case .concurrent: "as many runs at once as the plugin allows"
    case .many: "many runs in a row: descriptors, threads, memory"
    case .leftBehind: "threads and handles after the handler has returned"
    case .shutdown: "shutdown, and the threads after it"
    }
  }

  /// Whether it calls the plugin.
  public var callsPlugin: Bool { self != .file && self != .note }

  /// Whether it runs in a case process.
  var hasCaseProcess: Bool { callsPlugin && self != .worker }

  /// Whether it runs the handler; then it is tried with each handler of the plugin.
  var runsHandler: Bool {
    switch self {
    case .file, .note, .launch, .worker, .launchAgain, .launchRefused, .launchSettings: false
    default: true
    }
  }
}
