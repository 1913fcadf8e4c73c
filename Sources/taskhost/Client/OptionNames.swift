import StrictText
import TaskModel

/// What a refusal of the host is about, in the words of the command line: the host names the member of the body, a person gave an option.
struct OptionNames: Sendable {
  /// The option that gives a member, without its dashes, where it is another than in ``submit``.
  private let others: [String: String]

  /// The options of `submit`, and of the commands that take some of them.
  static let submit = OptionNames()

  /// - Parameter others: Options of the command, by the members that they give.
  init(_ others: [String: String] = [:]) { self.others = others }

  /// A refusal's sentence. It begins with the member that it is about, perhaps with a place in it: `after[0]: "x" is …`.
  func sentence(_ message: String, about field: String?) -> String {
    guard let field else { return message }
    let member = String(field.prefix { $0 != "[" && $0 != "." })
    guard message.hasPrefix(member), let option = option(of: member) else { return message }
    let rest = message.dropFirst(member.count)
    guard let next = rest.first, ":[.".contains(next) else { return message }
    // A place in a list counts options, which are given one by one.
    let place = rest.first == "[" ? rest.drop { $0 != "]" }.dropFirst() : rest
    let shown = place.first == "." ? " \(place.dropFirst())" : String(place)
    return "--\(option)" + (member.hasSuffix("_ms") ? Self.durations(shown) : shown)
  }

  /// A sentence on milliseconds with durations as people give them: `: 660000 is outside of 1 to 600000: …` has 11m, 1ms and 10m. What follows
  /// the next colon is in words already.
  private static func durations(_ text: String) -> String {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    return parts.enumerated().map { index, part in
      guard index == 1 else { return String(part) }
      return part.split(separator: " ", omittingEmptySubsequences: false).map { word in
        guard let number = Int64(word), number != .min else { return String(word) }
        return (number < 0 ? "-" : "") + DurationFormat.text(milliseconds: abs(number))
      }.joined(separator: " ")
    }.joined(separator: ":")
  }

  private func option(of member: String) -> String? {
    if let other = others[member] { return other }
    guard let field = RequestField(rawValue: member) else { return nil }
    switch field {
    // The identifier has no option; a payload may come of several.
    case .identifier, .payload, .payloadBase64: return nil
    // `--missed all:N`.
    case .missedLimit: return RequestField.missed.option
    default: return field.option
    }
  }
}
