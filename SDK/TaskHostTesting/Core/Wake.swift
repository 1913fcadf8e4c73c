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
  let at: Duration
  let action: Action
}

/// A thread that sleeps on the clock.
final class Sleeper {
  enum State {
    case asleep
    case woken
    case expired
    case over
  }

  /// Which thread it is, as the clock counts it.
  enum Role {
    case handler
    case expirationHandler
    case other
  }

  let role: Role
  let wakesAtExpiration: Bool
  var state = State.asleep

  init(_ role: Role, wakesAtExpiration: Bool) {
    self.role = role
    self.wakesAtExpiration = wakesAtExpiration
  }
}
