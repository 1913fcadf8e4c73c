import StoreTestSupport
import TaskStore
import ValueSealing

/// A file with the keys of a store.
struct Keys {
  let path: String

  /// Makes the file with one key, unless it exists.
  init(in directory: TemporaryDirectory, _ name: String = "store.key") throws {
    path = directory.file(name)
    do { _ = try KeyFile.read(path) } catch { _ = try KeyFile.addKey(to: path) }
  }

  /// Puts a new key in front.
  func rotate() throws { _ = try KeyFile.addKey(to: path) }

  func sealing(seals: Bool = true) throws -> StoreSealing { StoreSealing(keys: try KeyFile.read(path), seals: seals) }
}
