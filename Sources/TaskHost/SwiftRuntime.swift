import CTaskHostSystem
import Glibc

/// Where this process has Swift's libraries from: plugins in Swift may name the same place.
enum SwiftRuntime {
  /// The folder of `libswiftCore.so`, if that is a shared object here.
  static let directories: [String] = {
    guard let symbol = dlsym(nil, "swift_retain"), let name = taskhost_system_object_of(symbol), let path = realpath(name, nil)
    else { return [] }
    defer { free(path) }
    let file = String(cString: path)
    guard file.hasSuffix("/libswiftCore.so"), let slash = file.lastIndex(of: "/") else { return [] }
    return [String(file[..<slash])]
  }()
}
