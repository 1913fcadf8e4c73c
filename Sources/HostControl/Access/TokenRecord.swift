import CalendarTime
import StrictText
public import TaskModel

/// What a host knows of a token: everything but its secret.
public struct TokenRecord: Sendable, Hashable {
  /// The token's id.
  public let id: String
  /// What its owner may do.
  public let role: AccessRole
  /// To which identifiers.
  public let scope: AccessScope
  /// SHA-256 of the token.
  let hash: [UInt8]
  /// When it was made.
  public let created: WallTime

  /// Creates the record of a token.
  public init(of token: ControlToken, role: AccessRole, scope: AccessScope, created: WallTime) {
    (id, self.role, self.scope, hash, self.created) = (token.id, role, scope, token.hash, created)
  }

  /// Creates a record from a line of the file; throws a clause that says what is wrong with it.
  init(line: some Sequence<UInt8>) throws(TokenFlaw) {
    let node: JSONNode
    do { node = try JSONReader.read(Array(line)) } catch { throw TokenFlaw("it is not JSON: \(error)") }
    guard case .object(let members) = node.value else { throw TokenFlaw("an object is expected") }
    let known = ["id", "role", "identifiers", "sha256", "created"]
    if let other = members.first(where: { !known.contains($0.name) }) {
      throw TokenFlaw("there is no member \"\(other.name.prefix(40).description.escapingControlCharacters)\"")
    }
    guard let id = node["id"]?.string, ControlToken.isID(Array(id.utf8)) else { throw TokenFlaw("id: it is not that of a token") }
    guard let role = node["role"]?.string.flatMap(AccessRole.init(rawValue:)) else {
      throw TokenFlaw("role: it is none of \(AccessRole.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    guard let hash = node["sha256"]?.string.flatMap({ Hex.bytes($0.utf8, count: 32) }) else {
      throw TokenFlaw("sha256: 64 lower-case hexadecimal digits are expected")
    }
    guard let created = node["created"]?.string.flatMap(RFC3339.parse) else { throw TokenFlaw("created: it is no moment") }
    (self.id, self.role, self.hash, self.created) = (id, role, hash, created)
    scope = try Self.scope(node["identifiers"])
  }

  /// An empty list would mean everything, which is never meant by one who writes a list.
  private static func scope(_ node: JSONNode?) throws(TokenFlaw) -> AccessScope {
    guard let node else { return .all }
    guard let elements = node.array, !elements.isEmpty else {
      throw TokenFlaw("identifiers: a list of patterns is expected; leave it out for a token without a scope")
    }
    var patterns: [IdentifierPattern] = []
    for element in elements {
      guard let pattern = element.string.flatMap({ try? IdentifierPattern($0) }) else {
        throw TokenFlaw("identifiers: one of them is no pattern of identifiers")
      }
      patterns.append(pattern)
    }
    return AccessScope(patterns)
  }

  /// The line of the file.
  var line: [UInt8] {
    JSONWriter.object { writer in
      writer.member("id", id)
      writer.member("role", role.rawValue)
      if !scope.isAll { writer.member("identifiers", scope.patterns.map(\.text)) }
      writer.member("sha256", Hex.text(hash))
      writer.member("created", RFC3339.format(created) ?? "")
    } + [UInt8(ascii: "\n")]
  }
}

/// What is wrong with a line of a token file, as a clause.
struct TokenFlaw: Error {
  let clause: String

  init(_ clause: String) { self.clause = clause }
}
