import Foundation

/// The targets that `Package.swift` declares, read from its text: `swift package dump-package` needs a toolchain where the tests run.
///
/// The manifest is formatted by swift-format, so an entry of `targets` begins on a line of its own with four spaces.
struct PackageManifest {
  struct Target {
    let name: String
    /// Relative to the root of the package.
    let path: String
    /// Names of targets and modules of products.
    let dependencies: Set<String>
    /// From the nearest `// Floor N:` above the entry; nil outside the host.
    let floor: Int?

    var isTest: Bool { path.hasPrefix("Tests/") }
    /// A host for authors' unit tests: on a floor of the house, and the only part of it that knows the SDK.
    var isTestKit: Bool { name == "TaskHostTesting" }
    var isHost: Bool { path.hasPrefix("Sources/") || isTestKit }
    var isSDK: Bool { path.hasPrefix("SDK/") && !isTestKit }
    var isPlugin: Bool { path.hasPrefix("Plugins/") }
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  let targets: [String: Target]

  init() throws {
    let text = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
    var products: [String: String] = [:]
    for match in text.matches(of: /let (\w+) = Target\.Dependency\.product\(name: "(\w+)"/) {
      products[String(match.1)] = String(match.2)
    }
    let declarations = text.range(of: "\n  targets: [\n").map { text[$0.upperBound...] } ?? ""
    var targets: [String: Target] = [:]
    var floor: Int?
    var entry = ""
    func finishEntry() {
      defer { entry = "" }
      guard let target = Self.target(entry, floor: floor, products: products) else { return }
      targets[target.name] = target
    }
    for line in declarations.split(separator: "\n") {
      if line.hasPrefix("    .") || line.hasPrefix("    //") { finishEntry() }
      if let heading = line.prefixMatch(of: /\s+\/\/ Floor (\d+):/) { floor = Int(heading.1) }
      if !line.hasPrefix("    //") { entry += line + "\n" }
    }
    finishEntry()
    self.targets = targets
  }

  private static func target(_ entry: String, floor: Int?, products: [String: String]) -> Target? {
    guard let kind = entry.firstMatch(of: /^\s+\.(\w+)\(/)?.1, let name = entry.firstMatch(of: /name: "([^"]+)"/)?.1 else { return nil }
    let folder = kind == "testTarget" ? "Tests" : "Sources"
    let path = entry.firstMatch(of: /path: "([^"]+)"/).map { String($0.1) } ?? "\(folder)/\(name)"
    var dependencies: Set<String> = []
    for match in (entry.firstMatch(of: /dependencies: \[([^\]]*)\]/)?.1 ?? "").matches(of: /"([^"]+)"|(\w+)/) {
      if let quoted = match.1 { dependencies.insert(String(quoted)) }
      if let constant = match.2 { dependencies.insert(products[String(constant)] ?? String(constant)) }
    }
    return Target(
      name: String(name), path: path, dependencies: dependencies,
      floor: path.hasPrefix("Sources/") || name == "TaskHostTesting" ? floor : nil)
  }

  /// The target whose folder holds the file; nil if no target does.
  func owner(of file: String) -> Target? {
    targets.values.filter { file.hasPrefix($0.path + "/") }.max { $0.path.count < $1.path.count }
  }

  /// Every target and product that the target is linked with.
  func closure(of name: String) -> Set<String> {
    var found: Set<String> = []
    var open = [name]
    while let next = open.popLast() {
      for dependency in targets[next]?.dependencies ?? [] where found.insert(dependency).inserted { open.append(dependency) }
    }
    return found
  }
}
