/// How an attempt to deliver a notification ended.
public enum DeliveryEnd: Sendable, Equatable {
  /// The receiver has it.
  case delivered
  /// The receiver may take it later, with the reason.
  case later(String)
  /// The receiver will never take it, with the reason.
  case refused(String)

  /// What the host takes from the program's exit: 75 (`EX_TEMPFAIL`) asks for another attempt.
  public var exitCode: Int32 {
    switch self {
    case .delivered: 0
    case .later: 75
    case .refused: 1
    }
  }

  /// A sentence for the run's log; nil if there is nothing to say.
  public var sentence: String? {
    switch self {
    case .delivered: nil
    case .later(let reason), .refused(let reason): reason
    }
  }
}
