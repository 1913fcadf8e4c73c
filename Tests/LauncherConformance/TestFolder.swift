import Foundation

/// The folder of this process's tests, removed when it ends.
public enum TestFolder {
  private static let path: String = {
    let path = URL(filePath: NSTemporaryDirectory()).resolvingSymlinksInPath().path + "/taskhost-launchers-\(UUID().uuidString)"
    atexit { try? FileManager.default.removeItem(atPath: TestFolder.path) }
    return path
  }()

  /// Plugins and programs that were compiled.
  public static let programs = make("programs")
  /// What tests and plugins share: plugins may write here.
  public static let shared = make("shared")
  /// The data directory of every plugin.
  public static let data = make("data")

  /// The path of a new file, not made yet, that plugins may read and write.
  public static func newFile() -> String { shared + "/" + UUID().uuidString }

  private static func make(_ name: String) -> String {
    let folder = path + "/" + name
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }
}
