import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum DataDirectory {
  /// Makes a folder for a test host in the system's folder for temporary files.
  static func make() throws(TestHostError) -> String {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/taskhost-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw TestHostError.system("no folder could be made in \(parent): \(String(cString: strerror(errno)))")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The plugin's own folder, created if missing.
  static func folder(of identifier: String, in directory: String) throws(TestHostError) -> String {
    let path = "\(directory)/\(identifier)"
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw TestHostError.system("\(path) could not be made: \(String(cString: strerror(errno)))")
    }
    return path
  }

  /// Removes a folder and its contents as far as possible; removes symbolic links without following them.
  static func remove(_ path: String) {
    try? FileManager.default.removeItem(atPath: path)
  }
}
