import Glibc
public import HostThreads
import PluginTrust
import StrictText

/// A bearer token as its owner has it: `th_ID_SECRET`. Its text is shown once, when it is made; the description hides the secret.
public struct ControlToken: Sendable, CustomStringConvertible {
  private static let prefix = "th_"
  private static let (idLength, secretLength) = (8, 43)
  private static let idAlphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// Names the token. It is not secret: logs and lists show it.
  public let id: String
  /// The whole token, for its owner only.
  public let text: String

  /// A new token of 32 random bytes.
  public static func make() throws(ErrorNumber) -> ControlToken {
    var random = [UInt8](repeating: 0, count: idLength + 32)
    guard getentropy(&random, random.count) == 0 else { throw .last }
    let id = String(decoding: random.prefix(idLength).map { idAlphabet[Int($0) % idAlphabet.count] }, as: UTF8.self)
    let secret = Base64.encode(Array(random.dropFirst(idLength))).compactMap { character -> Character? in
      switch character {
      case "+": "-"
      case "/": "_"
      case "=": nil
      default: character
      }
    }
    return ControlToken(id: id, text: prefix + id + "_" + String(secret))
  }

  private init(id: String, text: String) { (self.id, self.text) = (id, text) }

  /// nil for text that ``make()`` never gives.
  init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    let start = Self.prefix.utf8.count
    guard bytes.count == start + Self.idLength + 1 + Self.secretLength, bytes.starts(with: Self.prefix.utf8),
      bytes[start + Self.idLength] == UInt8(ascii: "_")
    else { return nil }
    let (id, secret) = (bytes[start..<start + Self.idLength], bytes.suffix(Self.secretLength))
    guard Self.isID(id), secret.allSatisfy(Self.isOfSecret) else { return nil }
    self.init(id: String(decoding: id, as: UTF8.self), text: String(text))
  }

  /// Whether a text can be the id of a token.
  static func isID(_ text: some Collection<UInt8>) -> Bool { text.count == idLength && text.allSatisfy(idAlphabet.contains) }

  private static func isOfSecret(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// SHA-256 of the text. The secret has 256 random bits, so a slow hash would add nothing.
  var hash: [UInt8] { SHA256.digest(of: Array(text.utf8)) }

  /// `th_ID_•••`
  public var description: String { "\(Self.prefix)\(id)_•••" }

  /// Compares hashes in a time that does not depend on where they differ.
  static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
