/// The place of a value in a configuration: the keys and indices that lead to it.
struct ConfigurationPath: Hashable, CustomStringConvertible, ExpressibleByArrayLiteral {
  enum Component: Hashable {
    case key(String)
    case index(Int)
  }

  private(set) var components: [Component]

  init(_ components: [Component] = []) { self.components = components }

  init(arrayLiteral keys: String...) { self.init(keys: keys) }

  init(keys: [String]) { self.init(keys.map { .key($0) }) }

  func appending(_ key: String) -> Self { Self(components + [.key(key)]) }

  func appending(_ index: Int) -> Self { Self(components + [.index(index)]) }

  /// The path with another component before all of its own.
  func within(_ component: Component) -> Self { Self([component] + components) }

  /// Nil for the whole file.
  var parent: Self? { components.isEmpty ? nil : Self(components.dropLast()) }

  /// Keys whose values may be secrets, or contain some: nobody is shown them, in no report and no message.
  private static let secret: Set<String> = ["settings", "payload", "environment", "ping", "url", "endpoint"]

  /// Whether a value there may be a secret.
  var mayHoldSecret: Bool {
    components.contains { component in if case .key(let key) = component { Self.secret.contains(key) } else { false } }
  }

  /// As TOML writes it: `plugin."org.example.sync".requires[0]`.
  var description: String {
    var text = ""
    for component in components {
      switch component {
      case .index(let index): text += "[\(index)]"
      case .key(let key): text += (text.isEmpty ? "" : ".") + Self.text(of: key)
      }
    }
    return text
  }

  /// A key as TOML writes it, in quotes if it needs them.
  static func text(of key: String) -> String { isBare(key) ? key : "\"\(key)\"" }

  private static func isBare(_ key: String) -> Bool {
    !key.isEmpty
      && key.unicodeScalars.allSatisfy { $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_" || $0 == "-") }
  }
}
