import CTaskHostSystem
import Glibc
import PluginTrust

/// The location of this process's Swift libraries, which Swift plugins may name too.
enum SwiftRuntime {
  /// The folder of `libswiftCore.so`; empty if Swift is linked statically.
  static let directories: [String] = {
    guard let symbol = dlsym(nil, "swift_retain"), let name = taskhost_system_object_of(symbol), let path = realpath(name, nil)
    else { return [] }
    defer { free(path) }
    let file = String(cString: path)
    guard file.hasSuffix("/libswiftCore.so"), let slash = file.lastIndex(of: "/") else { return [] }
    return [String(file[..<slash])]
  }()

  /// What a host trusts in a plugin's file.
  static var trustPolicy: PluginTrustPolicy { PluginTrustPolicy(trustedLibraryDirectories: directories) }
}
