import Dispatch

extension Duration {
  /// The same time for libdispatch, whose deadlines then follow the monotonic clock.
  var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    return .milliseconds(Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
  }
}
