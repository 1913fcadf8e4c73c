import Foundation

/// A source file of the package with the modules it imports and the headers it includes.
struct SourceFile {
  /// Relative to the root of the package.
  let path: String
  /// The name of the target whose folder holds the file; nil if no target does.
  let target: String?
  let imports: Set<String>
  let includes: Set<String>

  /// Swift files, C files and headers below the folder.
  static func all(in folder: String, of manifest: PackageManifest) throws -> [SourceFile] {
    let root = PackageManifest.root
    guard let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil) else { return [] }
    return try files.compactMap { $0 as? URL }.filter { ["swift", "c", "cpp", "h"].contains($0.pathExtension) }.map { file in
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      let isSwift = file.pathExtension == "swift"
      let path = String(file.path().dropFirst(root.path().count).drop { $0 == "/" })
      return SourceFile(
        path: path, target: manifest.owner(of: path)?.name,
        imports: isSwift ? importedModules(lines) : [],
        includes: isSwift ? [] : Set(lines.compactMap(includedHeader)))
    }
  }

  var fileName: String { String(path.split(separator: "/").last ?? "") }

  /// Templates in string literals have import lines too, which do not count.
  private static func importedModules(_ lines: [Substring]) -> Set<String> {
    var modules: Set<String> = []
    var isInString = false
    for line in lines {
      if line.contains("\"\"\"") { isInString.toggle() }
      if !isInString, line.contains("import "), let module = importedModule(line) { modules.insert(module) }
    }
    return modules
  }

  private static func importedModule(_ line: Substring) -> String? {
    let words = line.split(separator: " ")
    guard let position = words.firstIndex(of: "import"), position + 1 < words.count,
      words[..<position].allSatisfy({ $0.hasPrefix("@") || ["public", "package", "internal", "private", "fileprivate"].contains($0) })
    else { return nil }
    return String(words[position + 1].split(separator: ".")[0])
  }

  private static func includedHeader(_ line: Substring) -> String? {
    guard line.contains("#") else { return nil }
    return line.prefixMatch(of: /\s*#\s*include\s*[<"](?:.*\/)?([^\/>"]+)[>"]/).map { String($0.1) }
  }
}
