public import TaskModel

/// Why a text is not a filter.
public struct FilterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The position of the first wrong character, from 1, in Unicode scalars.
  public let position: Int
  /// What was seen there and what to write instead.
  public let message: String

  /// The position and the message in one sentence.
  public var description: String { "at character \(position): \(message)" }

  /// The refusal of a request that has the filter in the parameter or member `field`.
  public func refusal(field: String = "filter") -> RequestRefusal {
    RequestRefusal(.invalid, "\(field): \(description)", field: field)
  }
}
