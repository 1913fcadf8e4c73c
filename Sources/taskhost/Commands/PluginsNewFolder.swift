import Glibc
import HostThreads

/// The folder that `plugins new` writes.
enum PluginsNewFolder {
  /// Writes the files into a new or empty folder. Only the user may write them, because a host refuses a plugin that others can change.
  static func write(_ files: [(path: String, bytes: [UInt8])], to folder: String) throws(CommandFailure) {
    if mkdir(folder, 0o755) != 0 {
      guard errno == EEXIST else { throw failure(folder) }
      guard try isEmpty(folder) else {
        throw CommandFailure(
          .failed, folder, "already exists and is not empty", remedy: "choose another name, or another folder with --directory")
      }
    }
    for file in files {
      var place = folder
      for part in file.path.split(separator: "/").dropLast() {
        place += "/" + part
        guard mkdir(place, 0o755) == 0 || errno == EEXIST else { throw failure(place) }
      }
      try write(file.bytes, to: folder + "/" + file.path)
    }
  }

  private static func isEmpty(_ folder: String) throws(CommandFailure) -> Bool {
    do throws(ErrorNumber) { return try DirectoryNames.list(at: folder).isEmpty } catch { throw failure(folder, error) }
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    do throws(ErrorNumber) { try WholeTransfer.write(bytes, to: descriptor) } catch { throw failure(path, error) }
  }

  private static func failure(_ path: String, _ error: ErrorNumber = .last) -> CommandFailure {
    CommandFailure(.failed, path, error.description, remedy: "choose a folder that you may write to, with --directory")
  }

  /// The path of the taskhost package: `given`, otherwise the checkout in which this program was built.
  static func sdk(_ given: String?) throws(CommandFailure) -> String {
    if let given {
      guard let path = RealPath.of(given), isPackage(path) else {
        throw CommandFailure(
          .usage, "--sdk \(given)", "is not the taskhost package", remedy: "name the folder with its Package.swift and SDK")
      }
      return path
    }
    var place = RealPath.of("/proc/self/exe") ?? ""
    while let slash = place.lastIndex(of: "/"), slash > place.startIndex {
      place = String(place[..<slash])
      if isPackage(place) { return place }
    }
    throw CommandFailure(
      .usage, "plugins new --language swift", "this taskhost is not in a checkout of its package, on which a Swift plugin depends",
      remedy: "name a checkout with --sdk")
  }

  private static func isPackage(_ path: String) -> Bool {
    access(path + "/Package.swift", R_OK) == 0 && access(path + "/SDK/TaskHostSDK", R_OK) == 0
  }
}
