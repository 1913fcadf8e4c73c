import Glibc
import Testing

/// A library loaded into the test, to see that it still works.
final class LoadedLibrary {
  private let handle: UnsafeMutableRawPointer

  init(_ path: String) throws {
    handle = try #require(dlopen(path, RTLD_NOW | RTLD_LOCAL), "\(dlerror().map { String(cString: $0) } ?? "")")
  }

  deinit { dlclose(handle) }

  /// What the function `int answer(void)` in it returns.
  func answer() throws -> Int32 {
    let symbol = try #require(dlsym(handle, "answer"))
    return unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)()
  }
}
