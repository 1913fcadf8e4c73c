import Glibc
import PluginTrust
import TaskModel
import Testing

/// A directory of plugins and one of copies.
struct CopyFixture {
  let plugins: PluginDirectory
  let state: PluginDirectory
  let copies: PluginCopies

  init() throws {
    plugins = try PluginDirectory()
    state = try PluginDirectory()
    copies = try PluginCopies(directory: state.file("copies"))
  }

  /// A plugin whose function `answer` returns `number`, settled on the file system's clock.
  func plugin(answering number: Int, to name: String = "lib.so") throws -> String {
    try plugins.compile(SamplePlugin.source + "\nint answer(void) { return \(number); }", to: name)
  }

  func copy(_ name: String) -> String { "\(copies.directory)/\(name)" }

  var copyNames: [String] {
    get throws {
      let stream = try #require(opendir(copies.directory))
      defer { closedir(stream) }
      var names: [String] = []
      while let entry = readdir(stream) {
        let name = withUnsafePointer(to: entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
      }
      return names.sorted()
    }
  }

  static func info(_ path: String) throws -> stat {
    var info = stat()
    try #require(lstat(path, &info) == 0)
    return info
  }

  /// What would be remembered of the file at `path` as it is now.
  static func known(_ path: String, digest: [UInt8] = [UInt8](repeating: 7, count: 32)) throws -> KnownPluginFile {
    let info = try info(path)
    return KnownPluginFile(
      path: path, device: UInt64(info.st_dev), inode: UInt64(info.st_ino), size: UInt64(info.st_size),
      modified: Int64(info.st_mtim.tv_sec) * 1_000_000_000 + Int64(info.st_mtim.tv_nsec),
      changed: Int64(info.st_ctim.tv_sec) * 1_000_000_000 + Int64(info.st_ctim.tv_nsec), digest: digest)
  }
}
