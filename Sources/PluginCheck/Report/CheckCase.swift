/// A case of `taskhost plugins check`; ``summary`` says what each one tries. All but ``file`` and ``note`` run in their own process.
public enum CheckCase: String, Sendable, CaseIterable {
  case file
  case note
  case launch
  case worker
  case launchAgain = "launch-again"
  case launchRefused = "launch-refused"
  case launchSettings = "launch-settings"
  case run
  case runAgain = "run-again"
  case attempts
  case payloadEmpty = "payload-empty"
  case payloadObject = "payload-object"
  case payloadNotJSON = "payload-not-json"
  case payloadRandom = "payload-random"
  case payloadDamaged = "payload-damaged"
  case payloadLimit = "payload-limit"
  case expireBefore = "expire-before"
  case expireAtOnce = "expire-at-once"
  case expireInRun = "expire-in-run"
  case expireInGrace = "expire-in-grace"
  case expireAtReturn = "expire-at-return"
  case expireBudget = "expire-budget"
  case expireReasons = "expire-reasons"
  case drain
  case storeUnavailable = "store-unavailable"
  case storeLimit = "store-limit"
  case storeTooBig = "store-too-big"
  case storeFlaky = "store-flaky"
  case stateForeign = "state-foreign"
  case checkpointForeign = "checkpoint-foreign"
  case submitRefused = "submit-refused"
  case wakeRefused = "wake-refused"
  case transferEnded = "transfer-ended"
  case transferForeign = "transfer-foreign"
  case clockForward = "clock-forward"
  case clockBack = "clock-back"
  case concurrent
  case many
  case leftBehind = "left-behind"
  case shutdown

  /// What the case tries, for `--list` and the report.
  public var summary: String {
    switch self {
    case .file: "the file, as the host inspects it before it loads it"
    case .note: "the ELF note agrees with the registration"
    case .launch: "a launch registers one handler, within the launch budget"
    case .worker: "a launch in a worker process, as bare and confined as in a host"
    case .launchAgain: "a second launch in the same process registers the same"
    case .launchRefused: "the host refuses the registration"
    case .launchSettings: "launches with settings that the plugin does not expect"
    case .run: "a run with the valid payload"
    case .runAgain: "the same request runs again: runs happen at least once"
    case .attempts: "attempt numbers from 1 to the highest"
    case .payloadEmpty: "no payload"
    case .payloadObject: "JSON that the handler does not expect: {}, [], null, deep nesting"
    case .payloadNotJSON: "text that is not JSON"
    case .payloadRandom: "random bytes"
    case .payloadDamaged: "the valid payload, cut and damaged"
    case .payloadLimit: "payloads of 65,536 bytes"
    case .expireBefore: "expired before the handler begins"
    case .expireAtOnce: "expired as the handler begins"
    case .expireInRun: "expired at random moments of a run"
    case .expireInGrace: "a durable call is answered late in the grace"
    case .expireAtReturn: "expired at about the time the handler returns"
    case .expireBudget: "the budget is spent"
    case .expireReasons: "every reason to stop"
    case .drain: "the host drains during a run and shuts down"
    case .storeUnavailable: "state, checkpoint and submission: EUNAVAILABLE"
    case .storeLimit: "state and checkpoint cannot grow: ELIMIT"
    case .storeTooBig: "state and checkpoint: ETOOBIG"
    case .storeFlaky: "durable calls fail at random"
    case .stateForeign: "state that another version of the plugin wrote"
    case .checkpointForeign: "a checkpoint that another version of the plugin wrote"
    case .submitRefused: "submissions and cancellations are refused"
    case .wakeRefused: "requests that wake the machine are refused: ENOTPERMITTED"
    case .transferEnded: "the handler is told how its transfers have ended: done, failed, cancelled; twice"
    case .transferForeign: "reports of transfers that are not the plugin's, and damaged ones"
    case .clockForward: "the wall clock jumps forwards"
    case .clockBack: "the wall clock jumps backwards"
    case .concurrent: "as many runs at once as the plugin allows"
    case .many: "many runs in a row: descriptors, threads, memory"
    case .leftBehind: "threads and handles after the handler has returned"
    case .shutdown: "shutdown, and the threads after it"
    }
  }

  /// Whether the case calls the plugin.
  public var callsPlugin: Bool { self != .file && self != .note }

  /// Whether the case runs in a case process.
  var hasCaseProcess: Bool { callsPlugin && self != .worker }

  /// Whether the case runs the handler. If so, it is tried with each handler of the plugin.
  var runsHandler: Bool {
    switch self {
    case .file, .note, .launch, .worker, .launchAgain, .launchRefused, .launchSettings: false
    default: true
    }
  }
}
