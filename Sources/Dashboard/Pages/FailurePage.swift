public import TaskModel

/// Why something could not be shown or done.
public enum FailurePage {
  /// - Parameter back: Where to go on.
  public static func make(_ refusal: RequestRefusal, back: String?, now: WallTime) -> Page {
    let heading =
      switch refusal.code {
      case .notFound: "Not found"
      case .unavailable: "Not available now"
      case .internal: "A defect in the host"
      default: "Refused"
      }
    let values: View = [
      "heading": heading, "sentence": sentence(refusal.message), "back": back ?? "/", "backLabel": back == nil ? "Overview" : "Back",
    ]
    return Page(heading, in: nil, "failure", values, now: now, changes: nil)
  }

  /// The message with a full stop, unless it has an end of its own.
  static func sentence(_ message: String) -> String { message.last.map { ".?!".contains($0) } == true ? message : message + "." }
}
