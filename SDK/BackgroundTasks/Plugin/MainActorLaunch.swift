/// Calls a function of the main actor while the plugin launches.
enum MainActorLaunch {
  /// Calls `body` on the calling thread.
  ///
  /// Off the main queue this is the host's launch thread. A worker serves the main queue only once the launch is over, thread isolation
  /// perhaps never: to wait for that queue could be to wait forever. None of the plugin's code runs before its launch has returned, so
  /// `body` has the main actor for itself, as far as the plugin is concerned.
  static func call(_ body: @MainActor () -> Void) {
    if MainQueue.isCurrent { return MainActor.assumeIsolated(body) }
    withoutActuallyEscaping(body) { body in
      unsafeBitCast(body, to: (() -> Void).self)()
    }
  }
}
