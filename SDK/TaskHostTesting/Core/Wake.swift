import TaskHostSDK

struct Wake {
  enum Action {
    /// A thread in the host's sleep or in a slowed call.
    case thread(Sleeper)
    /// A Swift task of the SDK.
    case call(VirtualTimeFunctions.WakeUp, UnsafeMutableRawPointer?)
  }

  let run: RunState
  /// `nil`: it waits for the end of a check, not for a time.
  let at: Duration?
  let action: Action
}

final class Sleeper {
  enum Role {
    case handler
    /// Checks the run; may be in the expiration handler.
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
