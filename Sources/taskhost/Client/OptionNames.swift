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
    let unit = member.hasSuffix("_ms") ? " (in ms)" : ""
    return "--\(option)\(unit)\(place.first == "." ? " \(place.dropFirst())" : String(place))"
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
