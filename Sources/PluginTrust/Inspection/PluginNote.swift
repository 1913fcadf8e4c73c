/// The declarations in a plugin's ELF note (section `.note.taskhost`, owner `taskhost`, type 0x54480001).
///
/// They tell the host the identifier, and thus the settings and limits, before any code of the plugin runs. The note must match the
/// plugin's registration. Trailing zero bytes of the descriptor are ignored, because a C string literal has one.
public struct PluginNote: Sendable, Equatable {
  /// The kinds of task. The raw values are their names in the note.
  public enum Kind: String, Sendable, CaseIterable {
    /// Short and frequent.
    case refresh
    /// Maintenance.
    case processing
    /// Started by a user, with visible progress.
    case continued
  }

  /// `identifier`: the identifier that the plugin registers.
  public let identifier: String

  /// `kind`: the kind of task, if given.
  public let kind: Kind?

  /// `budget_ms`: the budget in milliseconds, if given.
  public let budgetMilliseconds: UInt64?

  /// `version`: the version of the plugin, if given.
  public let version: String?

  /// `swift`: the version of the Swift compiler that built it, if given.
  public let swift: String?

  /// `asks`, each: what the author says that the plugin needs, as the configuration would have it: `network = [443]`. For people; it gives nothing.
  public let asks: [String]

  private static let asking = "asks"
  private static let mostAsked = 16
  private static let keys: Set<String> = ["format", "abi", "identifier", "kind", "budget_ms", "version", "swift"]
  private static let valueLimit = 128

  init(descriptor: [UInt8]) throws(Rejection) {
    guard descriptor.count <= PluginABI.noteLimit else {
      throw .badNote("has \(descriptor.count) bytes, more than \(PluginABI.noteLimit)")
    }
    let end = descriptor.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    guard let text = String(validating: descriptor[..<end], as: UTF8.self) else { throw .badNote("is not UTF-8") }
    let (values, asks) = try Self.values(text)
    guard values["format"] == "1" else { throw .badNote("has the format \"\(values["format"] ?? "")\", not 1") }
    guard let abi = values["abi"], abi == String(PluginABI.version) else {
      throw .badNote("has the ABI version \"\(values["abi"] ?? "")\", but the plugin has \(PluginABI.version)")
    }
    guard let identifier = values["identifier"], Self.isIdentifier(identifier) else {
      throw .badNote("has no valid identifier (1 to 128 of A-Z a-z 0-9 . _ -, first a letter or digit)")
    }
    let kind = values["kind"].map { Kind(rawValue: $0) }
    if case .some(.none) = kind { throw .badNote("has the kind \"\(values["kind"] ?? "")\", not refresh, processing or continued") }
    let budget = values["budget_ms"].map { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64($0) : nil }
    if case .some(.none) = budget { throw .badNote("has a budget_ms that is not a number of milliseconds") }
    self.identifier = identifier
    self.kind = kind ?? nil
    budgetMilliseconds = budget ?? nil
    version = values["version"]
    swift = values["swift"]
    self.asks = asks
  }

  private static func values(_ text: String) throws(Rejection) -> (values: [String: String], asks: [String]) {
    var values: [String: String] = [:]
    var asks: [String] = []
    for line in text.split(separator: "\n") {
      guard let equals = line.firstIndex(of: "=") else { throw .badNote("has a line without \"=\"") }
      let key = String(line[..<equals])
      let value = String(line[line.index(after: equals)...])
      guard keys.contains(key) || key == asking else { throw .badNote("has a key that format 1 does not define") }
      guard !value.isEmpty, value.utf8.count <= valueLimit, !value.hasControlCharacters else {
        throw .badNote("has a value for \(key) that is empty, too long or has control characters")
      }
      guard key != asking else {
        guard asks.count < mostAsked else { throw .badNote("has more than \(mostAsked) lines that say what it asks for") }
        asks.append(value)
        continue
      }
      guard values.updateValue(value, forKey: key) == nil else { throw .badNote("has the key \(key) twice") }
    }
    return (values, asks)
  }

  private static func isIdentifier(_ text: String) -> Bool {
    func isLetterOrDigit(_ byte: UInt8) -> Bool {
      (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }
    guard (1...128).contains(text.utf8.count), let first = text.utf8.first, isLetterOrDigit(first) else { return false }
    return text.utf8.allSatisfy { isLetterOrDigit($0) || [0x2e, 0x5f, 0x2d].contains($0) }
  }
}
