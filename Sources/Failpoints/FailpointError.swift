/// A value of `TASKHOST_FAILPOINT` that names no point.
public struct FailpointError: Error, CustomStringConvertible, Equatable {
  /// The value.
  public let setting: String

  init(_ setting: String) { self.setting = setting }

  /// What was seen and what may be there.
  public var description: String {
    let names = Failpoint.allCases.map(\.rawValue).joined(separator: ", ")
    return
      "\(FailpointTrigger.variable)=\(setting): NAME or NAME:N with N from 1 is expected, and NAME is one of \(names). Outside tests remove the variable."
  }
}
