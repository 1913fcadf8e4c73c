import CTaskHost

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A built plugin that was loaded into this process. It is never unloaded.
struct PluginFile: Sendable {
  let path: String
  let handlerLimit: Int

  /// Loads a private copy from `directory`: a new image each time, with its own global variables.
  ///
  /// - Throws: ``TestHostError/launchRefused(status:reason:)`` when the file is not a plugin for this host.
  static func load(_ path: String, copiedTo directory: String, number: UInt64) throws(TestHostError) -> PluginFile {
    let name = path.split(separator: "/").last.map(String.init) ?? "plugin.so"
    let copy = "\(directory)/\(number)-\(name)"
    try copyFile(path, to: copy)
    guard let image = dlopen(copy, RTLD_NOW | RTLD_LOCAL) else {
      throw refused(path, dlerror().map { String(cString: $0) } ?? "dlopen failed")
    }
    guard let version = dlsym(image, "taskhost_plugin_abi_version") else { throw refused(path, "it has no taskhost_plugin_abi_version") }
    let spoken = version.load(as: UInt32.self)
    guard spoken == TASKHOST_ABI_VERSION else {
      throw refused(path, "it was built for ABI \(spoken), this host speaks \(TASKHOST_ABI_VERSION)")
    }
    let limit = dlsym(image, "taskhost_plugin_handler_limit").map { $0.load(as: UInt32.self) } ?? 1
    return PluginFile(path: copy, handlerLimit: Int(min(limit, 64)))
  }

  private static func refused(_ path: String, _ reason: String) -> TestHostError {
    .launchRefused(status: taskhost_status(TASKHOST_EINVAL), reason: "\(path): \(reason)")
  }

  private static func copyFile(_ path: String, to copy: String) throws(TestHostError) {
    let source = open(path, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { throw refused(path, String(cString: strerror(errno))) }
    defer { close(source) }
    let target = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o700)
    guard target >= 0 else { throw TestHostError.system("\(copy): \(String(cString: strerror(errno)))") }
    defer { close(target) }
    while true {
      let count = sendfile(target, source, nil, 1 << 24)
      if count == 0 { return }
      guard count > 0 else { throw refused(path, String(cString: strerror(errno))) }
    }
  }
}
