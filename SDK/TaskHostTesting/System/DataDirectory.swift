import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The folders of a test host.
enum DataDirectory {
  /// A new folder for a test host under the system's folder for temporary files.
  static func make() throws(TestHostError) -> String {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/taskhost-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw TestHostError.system("no folder could be made in \(parent): \(String(cString: strerror(errno)))")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The plugin's own folder, made if it is not there.
  static func folder(of identifier: String, in directory: String) throws(TestHostError) -> String {
    let path = "\(directory)/\(identifier)"
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw TestHostError.system("\(path) could not be made: \(String(cString: strerror(errno)))")
    }
    return path
  }

  /// Removes a folder and what is in it, as far as that goes; symbolic links are removed, not followed.
  static func remove(_ path: String) {
    try? FileManager.default.removeItem(atPath: path)
  }
}
