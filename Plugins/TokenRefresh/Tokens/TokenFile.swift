import FoundationEssentials
import StrictText

/// A token file's content: `access_token`, `refresh_token`, `token_type`, `expires_at`, `issued_at`, `scope`, and any other members.
/// ``TokenFileWords`` describes files that use other names.
///
/// Printing it shows none of its content.
struct TokenFile: Undisclosed, Sendable, Equatable {
  private var members: [String: JSONValue]
  private let words: TokenFileWords

  /// When the access token expires; nil if the file does not say.
  private(set) var expiresAt: Date?
  /// When the access token was requested; nil if the file does not say.
  private(set) var issuedAt: Date?

  /// Reads a file's bytes.
  ///
  /// - Parameter modified: When the file was written. In a file that another library reads, the access token counts as issued then.
  /// - Throws: A sentence about the problem with the content, without any of the content.
  init(json bytes: [UInt8], modified: Date? = nil) throws(Problem) {
    guard case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else {
      throw Problem(reason: "not a JSON object")
    }
    self.members = members
    words = TokenFileWords(members)
    expiresAt = try Self.date(members, words.expiry)
    issuedAt = try Self.date(members, "issued_at") ?? (words.isForeign ? modified : nil)
  }

  /// The member that has the access token.
  var accessTokenMember: String { words.accessToken }
  var accessToken: Secret? { members[words.accessToken]?.text.map(Secret.init) }
  var refreshToken: Secret? { members["refresh_token"]?.text.map(Secret.init) }

  /// The tokens and all other secrets in the file.
  var secrets: [Secret] { [accessToken, refreshToken].compactMap { $0 } + SecretMembers.find(in: members) }

  /// Applies a server's answer: its members replace those of the file; other members stay.
  ///
  /// `expires_at` and `issued_at` keep the form that they had in the file: RFC 3339 text or Unix seconds. A refresh token that the server
  /// did not replace stays (RFC 6749 §6). A file that another library reads gets no new members.
  ///
  /// - Parameter issued: When the answer was requested. The lifetime counts from then, so that it is never overestimated.
  mutating func apply(_ grant: TokenGrant, issued: Date) {
    // Times are written as whole seconds; rounding both down preserves the granted lifetime.
    let issued = Date(timeIntervalSince1970: issued.timeIntervalSince1970.rounded(.down))
    for (key, value) in grant.members where value != .null {
      if key == "refresh_token" && grant.refreshToken == nil { continue }
      if key == "expires_in" && members["expires_in"] == nil { continue }
      if key == "expires_at" || key == "issued_at" || key == words.expiry { continue }
      if key == "access_token" {
        members[words.accessToken] = value
      } else if !words.isForeign || key == "refresh_token" || members[key] != nil {
        members[key] = value
      }
    }
    expiresAt = grant.lifetime.map { issued + $0.inSeconds }
    if grant.lifetime == nil { members["expires_in"] = nil }
    issuedAt = issued
    write(expiresAt, as: words.expiry)
    if !words.isForeign || members["issued_at"] != nil { write(issuedAt, as: "issued_at") }
  }

  /// The file's bytes: JSON with sorted keys and a final newline.
  func encoded() throws -> [UInt8] {
    Array(try JSONEncoder.sorted(.prettyPrinted).encode(JSONValue.object(members))) + [UInt8(ascii: "\n")]
  }

  private mutating func write(_ date: Date?, as key: String) {
    guard let date else {
      members[key] = nil
      return
    }
    // A time that the file did not have takes the form of the other time.
    let form = members[key] ?? members[words.expiry]
    let isText = if case .string(let text)? = form { Double(text) == nil } else { words.isForeign }
    if isText {
      members[key] = .string(date.formatted(.iso8601))
    } else {
      members[key] = .integer(Int64(date.timeIntervalSince1970))
    }
  }

  /// In Unix seconds, the year 5138. A larger number is in milliseconds.
  private static let largestTime = 1e11

  private static func date(_ members: [String: JSONValue], _ key: String) throws(Problem) -> Date? {
    guard let value = members[key], value != .null else { return nil }
    if let seconds = value.seconds {
      guard seconds >= 0, seconds < largestTime else {
        throw Problem(reason: "\(key) is not in Unix seconds (perhaps in milliseconds)")
      }
      return Date(timeIntervalSince1970: seconds)
    }
    if let text = value.text, let date = date(rfc3339: text) {
      // Go writes the year 1 for a token that does not expire.
      return date < Date(timeIntervalSince1970: 0) ? nil : date
    }
    throw Problem(reason: "\(key) is neither Unix seconds nor an RFC 3339 time")
  }

  /// Reads a time as libraries write it: RFC 3339, with or without a fraction of a second; without a zone it is UTC, as in google-auth.
  private static func date(rfc3339 text: String) -> Date? {
    var text = text
    if let point = text.firstIndex(of: ".") {
      let fraction = text[text.index(after: point)...].prefix { $0.isASCII && $0.isNumber }
      text.removeSubrange(point..<fraction.endIndex)
    }
    if text.utf8.count == 19 { text += "Z" }
    return try? Date(text, strategy: .iso8601)
  }
}

/// The member names in a token file: this plugin's, or those of the library that wrote it.
///
/// google-auth (`token`, `expiry`) and Go's `oauth2.Token` (`access_token`, `expiry`) read only their own names, so their files keep them.
struct TokenFileWords: Sendable, Equatable {
  let accessToken: String
  let expiry: String

  init(_ members: [String: JSONValue]) {
    accessToken = members["access_token"] == nil && members["token"] != nil ? "token" : "access_token"
    expiry = members["expires_at"] == nil && (members["expiry"] != nil || accessToken == "token") ? "expiry" : "expires_at"
  }

  /// Whether another library reads the file, which then gets no members that the library does not know.
  var isForeign: Bool { expiry == "expiry" }
}
