internal import TaskHostSDK

/// What each exit code of a command means for its request.
struct ExitCodes: Sendable, Equatable {
  /// The names of results in the configuration.
  static let names = ["success", "noop", "snooze", "retry", "failure"]
  /// The key for all codes that are not named.
  static let otherKey = "other"

  /// - Source: 75 is EX_TEMPFAIL of sysexits.h: the user is invited to retry.
  private var results: [Int32: TaskResult] = [0: .success, 75: .retry()]
  private var other: TaskResult = .failure
  /// The codes that the configuration names.
  private var named: Set<Int32> = []

  /// Sets the result for a code from 0 to 255, or for "other". Returns false if the code or the name is unknown.
  mutating func set(_ code: String, to name: String) -> Bool {
    guard let result = Self.result(named: name) else { return false }
    if code == Self.otherKey {
      other = result
      return true
    }
    guard let number = Int32(code), (0...255).contains(number), String(number) == code else { return false }
    results[number] = result
    named.insert(number)
    return true
  }

  func result(of code: Int32) -> TaskResult { results[code] ?? other }

  /// Whether the configuration names the code.
  func names(_ code: Int32) -> Bool { named.contains(code) }

  static func result(named name: String) -> TaskResult? {
    switch name {
    case "success": .success
    case "noop": .noop
    case "snooze": .snooze()
    case "retry": .retry()
    case "failure": .failure
    default: nil
    }
  }

  /// A word on a code that has a common meaning; nil for others.
  ///
  /// - Source: sysexits.h of BSD and the C library; 126 and above as shells use them (POSIX, 2.8.2).
  static func meaning(of code: Int32) -> String? {
    switch code {
    case 64: "wrong usage"
    case 65: "wrong data"
    case 66: "no input"
    case 67: "unknown user"
    case 68: "unknown host"
    case 69: "service unavailable"
    case 70: "internal error"
    case 71: "system error"
    case 72: "a system file is missing"
    case 73: "output cannot be created"
    case 74: "input or output error"
    case 75: "temporary failure"
    case 76: "protocol error"
    case 77: "permission denied"
    case 78: "wrong configuration"
    case 126: "the shell cannot execute it"
    case 127: "the shell cannot find it"
    case 129...192: "a signal ended it: \(SignalNames.name(of: code - 128))"
    default: nil
    }
  }
}
