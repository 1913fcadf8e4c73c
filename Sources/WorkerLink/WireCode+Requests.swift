import TaskModel

// The codes of the enumerations of a request. 0 is never a code, so that a field that was not written is detected.

extension LostConditionPolicy: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .stop: 1
    case .finish: 2
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .stop
    case 2: self = .finish
    default: return nil
    }
  }
}

extension RetryPolicy.Backoff: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .linear: 1
    case .exponential: 2
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .linear
    case 2: self = .exponential
    default: return nil
    }
  }
}

extension Dependency.FailurePolicy: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .fail: 1
    case .ignore: 2
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .fail
    case 2: self = .ignore
    default: return nil
    }
  }
}

extension DaylightPolicy.Gap: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .shift: 1
    case .skip: 2
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .shift
    case 2: self = .skip
    default: return nil
    }
  }
}

extension DaylightPolicy.Repeated: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .first: 1
    case .last: 2
    case .both: 3
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .first
    case 2: self = .last
    case 3: self = .both
    default: return nil
    }
  }
}
