/// A malformed value of `TASKHOST_FAILPOINT`, or one that names no point.
public struct FailpointError: Error, CustomStringConvertible, Equatable {
  /// The value.
  public let setting: String

  init(_ setting: String) { self.setting = setting }

  /// The value, and which values are valid.
  public var description: String {
    let names = Failpoint.allCases.map(\.rawValue).joined(separator: ", ")
    return
      "\(FailpointTrigger.variable)=\(setting): write NAME or NAME:N, with N from 1 and NAME one of \(names). Outside tests, remove the variable."
  }
}
