import HTTPTransfer
import NIOHTTP1
import StrictText
import Testing

@testable import HostControl

/// Compares answers with what their routes declare. Here an object has no members beyond the declared ones, so a member that a writer gains
/// must be declared too.
enum SchemaCheck {
  /// Records an issue for each difference between an answer and the declaration of its route.
  static func check(_ node: JSONNode, status: Int, of request: TransferRequest) {
    let path = String(request.url.dropFirst(HTTPTestClient.origin.count).prefix { $0 != "?" })
    var schema = JSONSchema.named(.failure)
    if status < 400 || status == 503,
      case .route(let route, _, _)? = try? RouteTable.control.find(HTTPMethod(rawValue: request.method), path)
    {
      guard let answer = route.answers.first(where: { Int($0.status.code) == status }) else {
        if status < 400 { Issue.record("\(route.name) does not declare the status \(status)") }
        return
      }
      guard case .json(let declared) = answer.content else {
        Issue.record("\(route.name) declares no JSON")
        return
      }
      schema = declared
    }
    for flaw in flaws(of: node, schema, at: "") { Issue.record("\(request.method) \(path) → \(status): \(flaw)") }
  }

  /// What of a value the schema does not allow.
  static func flaws(of node: JSONNode, _ schema: JSONSchema, at place: String) -> [String] {
    switch schema {
    case .any: return []
    case .boolean: return node.bool == nil ? ["\(place) is \(node.kind), not true or false"] : []
    case .integer(let range):
      guard let number = node.integer else { return ["\(place) is \(node.kind), not a whole number"] }
      return range?.contains(number) == false ? ["\(place) is \(number)"] : []
    case .text(let rule):
      guard let text = node.string else { return ["\(place) is \(node.kind), not a string"] }
      if !rule.names.isEmpty, !rule.names.contains(text) { return ["\(place) is \(text)"] }
      return rule.lengths?.contains(text.unicodeScalars.count) == false ? ["\(place) has \(text.unicodeScalars.count) characters"] : []
    case .array(let element, let count):
      guard let elements = node.array else { return ["\(place) is \(node.kind), not an array"] }
      let found = elements.enumerated().flatMap { flaws(of: $1, element, at: "\(place)[\($0)]") }
      return count?.contains(elements.count) == false ? found + ["\(place) has \(elements.count) elements"] : found
    case .map(let value, _):
      guard case .object(let members) = node.value else { return ["\(place) is \(node.kind), not an object"] }
      return members.flatMap { flaws(of: $0.node, value, at: "\(place).\($0.name)") }
    case .members(let declared):
      guard case .object(let members) = node.value else { return ["\(place) is \(node.kind), not an object"] }
      let missing = declared.filter { member in member.isRequired && !members.contains { $0.name == member.name } }
      return missing.map { "\(place).\($0.name) is missing" }
        + members.flatMap { member in
          guard let known = declared.first(where: { $0.name == member.name }) else { return ["\(place).\(member.name) is not declared"] }
          return flaws(of: member.node, known.schema, at: "\(place).\(member.name)")
        }
    case .choice(let schemas):
      let all = schemas.map { flaws(of: node, $0, at: place) }
      return all.contains(where: \.isEmpty) ? [] : all.min { $0.count < $1.count } ?? []
    case .orNull(let schema): return node.kind == "null" ? [] : flaws(of: node, schema, at: place)
    case .named(let name): return flaws(of: node, name.schema, at: place)
    case .described(let schema, _): return flaws(of: node, schema, at: place)
    }
  }
}
