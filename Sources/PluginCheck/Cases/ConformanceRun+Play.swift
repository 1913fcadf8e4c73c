import HostThreads
import PluginRuntime
import TaskModel

extension ConformanceRun {
  /// Plays the case.
  ///
  /// - Returns: One line about what was seen.
  func play() throws(End) -> String {
    switch order.tried {
    case .file, .note, .worker: throw .skipped("needs no case process")
    case .launch: return try playLaunch()
    case .launchAgain: return try playLaunchAgain()
    case .launchRefused: return try playLaunchRefused()
    case .launchSettings: return try playLaunchSettings()
    case .run: return try playRun()
    case .runAgain: return try playRunAgain()
    case .attempts: return try playAttempts()
    case .payloadEmpty, .payloadObject, .payloadNotJSON, .payloadRandom, .payloadDamaged, .payloadLimit: return try playPayloads()
    case .expireBefore: return try playExpireBefore()
    case .expireAtOnce: return try playExpireAtOnce()
    case .expireInRun: return try playExpireInRun()
    case .expireInGrace: return try playExpireInGrace()
    case .expireAtReturn: return try playExpireAtReturn()
    case .expireBudget: return try playExpireBudget()
    case .expireReasons: return try playExpireReasons()
    case .drain: return try playDrain()
    case .storeUnavailable, .storeLimit, .storeTooBig, .storeFlaky: return try playStore()
    case .stateForeign: return try playStateForeign()
    case .checkpointForeign: return try playCheckpointForeign()
    case .submitRefused: return try playSubmitRefused()
    case .wakeRefused: return try playWakeRefused()
    case .transferEnded: return try playTransferEnded()
    case .transferForeign: return try playTransferForeign()
    case .clockForward: return try playClock(step: .seconds(400 * 86_400))
    case .clockBack: return try playClock(step: .seconds(-400 * 86_400))
    case .concurrent: return try playConcurrent()
    case .many: return try playMany()
    case .leftBehind: return try playLeftBehind()
    case .shutdown: return try playShutdown()
    }
  }

  /// A summary of the runs so far.
  var seen: String { tally.sentence }
}
