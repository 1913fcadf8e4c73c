import TaskModel

// The codes of the vocabulary's enumerations. 0 is never a code, so that a field that was not written is detected.

extension StopReason: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .budget: 1
    case .cancelled: 2
    case .conditions: 3
    case .draining: 4
    case .replaced: 5
    case .stalled: 6
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .budget
    case 2: self = .cancelled
    case 3: self = .conditions
    case 4: self = .draining
    case 5: self = .replaced
    case 6: self = .stalled
    default: return nil
    }
  }
}

extension StopStage: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .asked: 1
    case .abandoned: 2
    case .killed: 3
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .asked
    case 2: self = .abandoned
    case 3: self = .killed
    default: return nil
    }
  }
}

extension TaskKind: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .refresh: 1
    case .processing: 2
    case .continued: 3
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .refresh
    case 2: self = .processing
    case 3: self = .continued
    default: return nil
    }
  }
}

extension ConflictPolicy: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .none: 1
    case .keep: 2
    case .replace: 3
    case .update: 4
    case .append: 5
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .none
    case 2: self = .keep
    case 3: self = .replace
    case 4: self = .update
    case 5: self = .append
    default: return nil
    }
  }
}

extension Disposition: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .created: 1
    case .kept: 2
    case .replaced: 3
    case .updated: 4
    case .appended: 5
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .created
    case 2: self = .kept
    case 3: self = .replaced
    case 4: self = .updated
    case 5: self = .appended
    default: return nil
    }
  }
}

extension LogLine.Level: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .trace: 1
    case .debug: 2
    case .info: 3
    case .notice: 4
    case .warning: 5
    case .error: 6
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .trace
    case 2: self = .debug
    case 3: self = .info
    case 4: self = .notice
    case 5: self = .warning
    case 6: self = .error
    default: return nil
    }
  }
}

extension LaunchFailure.Step: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .load: 1
    case .timeout: 2
    case .status: 3
    case .registration: 4
    case .note: 5
    case .registeredTwice: 6
    case .identifierTaken: 7
    case .notPermitted: 8
    case .crashed: 9
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .load
    case 2: self = .timeout
    case 3: self = .status
    case 4: self = .registration
    case 5: self = .note
    case 6: self = .registeredTwice
    case 7: self = .identifierTaken
    case 8: self = .notPermitted
    case 9: self = .crashed
    default: return nil
    }
  }
}

extension CallFailure.Status: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .invalid: 1
    case .launched: 2
    case .exists: 3
    case .notPermitted: 4
    case .stale: 5
    case .expired: 6
    case .tooBig: 7
    case .notFound: 8
    case .unsupported: 9
    case .limit: 10
    case .unavailable: 11
    case .internal: 12
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .invalid
    case 2: self = .launched
    case 3: self = .exists
    case 4: self = .notPermitted
    case 5: self = .stale
    case 6: self = .expired
    case 7: self = .tooBig
    case 8: self = .notFound
    case 9: self = .unsupported
    case 10: self = .limit
    case 11: self = .unavailable
    case 12: self = .internal
    default: return nil
    }
  }
}
