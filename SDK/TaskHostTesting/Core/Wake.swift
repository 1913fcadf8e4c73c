import TaskHostSDK

/// Something that sleeps on the clock.
struct Wake {
  enum Action {
    /// A thread in the host's sleep, or in a call that was made slow.
    case thread(Sleeper)
    /// A Swift task of the SDK's.
    case call(VirtualTimeFunctions.WakeUp, UnsafeMutableRawPointer?)
  }

  let run: RunState
  /// `nil`: it waits for the end of a check, not for a time.
  let at: Duration?
  let action: Action
}

/// A thread that sleeps on the clock.
final class Sleeper {
  /// Which thread it is, as the clock counts it.
  enum Role {
    case handler
    /// It checks the run: it may be in the expiration handler.
    case check
    case other
  }

  let role: Role
  let wakesAtExpiration: Bool
  var isAsleep = true

  init(_ role: Role, wakesAtExpiration: Bool) {
    self.role = role
    self.wakesAtExpiration = wakesAtExpiration
  }
}
