public import TaskModel

/// Why a text is not a filter.
public struct FilterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The position of the first wrong character, from 1, in Unicode scalars.
  public let position: Int
  /// What was seen there and what to write instead.
  public let message: String

  /// The maximum length of a filter in bytes.
  public static let longest = 4096

  /// Refuses a filter that is too long. A client checks before it puts the filter into a URL, where it would not fit.
  public static func checkLength(of text: String) throws(FilterError) {
    guard text.utf8.count > longest else { return }
    throw FilterError(position: 1, message: "the filter has \(text.utf8.count) bytes, more than \(longest): write a shorter one")
  }

  /// The position and the message in one sentence.
  public var description: String { "at character \(position): \(message)" }

  /// The refusal of a request that has the filter in the parameter or member `field`.
  public func refusal(field: String = "filter") -> RequestRefusal {
    RequestRefusal(.invalid, "\(field): \(description)", field: field)
  }
}
