import Glibc
import HostThreads
import StrictText

/// The files of one plugin in a plugin directory, and those that they replaced: what `taskhost plugins install`, `remove` and `rollback`
/// change.
///
/// A plugin is `NAME.so`, with `NAME.so.sig` beside it if it is signed, or a manifest `NAME.task.toml`. What is replaced or removed is kept in
/// the folder `.previous`, in which no host looks for plugins. A crash leaves the old file or the new one, never a part. Signature and plugin are
/// renamed one after the other: a host that launches between the two refuses the plugin and says why, until the command is repeated.
public struct PluginInstallation {
  /// Why a directory was not changed.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// The file or directory.
    public let file: String
    /// What was seen, without a final full stop.
    public let observed: String
    /// What to do.
    public let remedy: String

    /// A sentence.
    public var description: String { "\(file): \(observed) (\(remedy))" }
  }

  /// What a plugin consists of.
  public struct Content: Sendable, Equatable {
    /// The plugin, or the manifest.
    public var plugin: [UInt8]
    /// The content of `NAME.so.sig`; nil if it is not signed.
    public var signature: [UInt8]?

    /// Creates a content.
    public init(plugin: [UInt8], signature: [UInt8]? = nil) { (self.plugin, self.signature) = (plugin, signature) }

    /// Reads a plugin and the signature beside it, wherever they are and whoever owns them.
    ///
    /// - Returns: nil if the plugin's file does not exist.
    public static func read(_ path: String) throws(Failure) -> Content? { try read(path, trust: .anybody) }

    fileprivate static func read(_ path: String, trust: SmallFile.Trust) throws(Failure) -> Content? {
      guard let plugin = try bytes(of: path, trust, atMost: Int(PluginTrustPolicy().maximumSize)) else { return nil }
      return Content(plugin: plugin, signature: try bytes(of: PluginSigning.signatureFile(of: path), trust, atMost: SigningText.limit))
    }

    private static func bytes(of path: String, _ trust: SmallFile.Trust, atMost limit: Int) throws(Failure) -> [UInt8]? {
      do throws(SigningFlaw) { return try SmallFile.read(path, trust: trust, atMost: limit) } catch SmallFile.missing {
        return nil
      } catch {
        let remedy = if case .anybody = trust { "name another file" } else { "look at it, remove it, and repeat the command" }
        throw Failure(file: path, observed: error.observed, remedy: remedy)
      }
    }
  }

  private static let previousFolder = ".previous"
  private static let stagePrefix = ".install-"

  /// The directory's absolute path without links.
  public let directory: String
  /// The name of the plugin's file.
  public let name: String
  /// The user whose files and root's may be kept, and put back.
  private let owner: UInt32
  /// Keeps others from changing the directory meanwhile.
  private let lock: Lock

  /// Takes the directory for changes. Another command that changes it at the same time is refused.
  ///
  /// - Parameters:
  ///   - name: `NAME.so` or `NAME.task.toml`.
  ///   - user: The user whose host loads from the directory; nil means that of this process.
  public init(_ name: String, in directory: String, user: UInt32? = nil) throws(Failure) {
    guard PluginDirectoryScan.lists(name), !name.contains("/"), !name.hasControlCharacters else {
      throw Failure(file: name, observed: "is not the name of a plugin", remedy: "a host finds files whose names end in .so or .task.toml")
    }
    self.name = name
    owner = user ?? geteuid()
    let trust: DirectoryTrust
    do throws(PluginDirectoryError) { trust = try DirectoryTrust(of: directory, user: owner) } catch {
      throw Failure(file: error.directory, observed: error.observed, remedy: error.remedy)
    }
    if let rejection = trust.rejection { throw Failure(file: directory, observed: rejection.observed, remedy: rejection.remedy) }
    self.directory = trust.path
    lock = try Lock(trust.path)
    try checkPreviousFolder()
    removeStages()
  }

  /// What is kept is put back with a plugin's mode, so its folder must be as trusted as that of the plugins, and no link to another one.
  private func checkPreviousFolder() throws(Failure) {
    let folder = Self.previousFolder(in: directory)
    var info = stat()
    guard lstat(folder, &info) == 0 else {
      guard errno == ENOENT else { throw Self.failure(folder, "cannot be looked at", .last) }
      return
    }
    let remedy = "look at it, remove it, and repeat the command"
    guard info.st_mode & S_IFMT == S_IFDIR else { throw Failure(file: folder, observed: "is not a directory", remedy: remedy) }
    guard info.st_uid == 0 || info.st_uid == owner else {
      throw Failure(file: folder, observed: "is owned by user \(info.st_uid), not by root or user \(owner)", remedy: remedy)
    }
    guard info.st_mode & 0o022 == 0 else {
      throw Failure(
        file: folder, observed: "can be written by group or others (mode 0\(String(info.st_mode & 0o7777, radix: 8)))", remedy: remedy)
    }
  }

  /// The folder with what was replaced or removed.
  public static func previousFolder(in directory: String) -> String { "\(directory)/\(previousFolder)" }

  /// The installed plugin's path.
  public var path: String { "\(directory)/\(name)" }
  private var keptPath: String { "\(Self.previousFolder(in: directory))/\(name)" }

  /// Whether there is an earlier version to go back to.
  public var hasPrevious: Bool { access(keptPath, F_OK) == 0 || wasPutBack }
  /// There if the last rollback has put back what was removed: nothing was there before it.
  private var absenceMark: String { keptPath + ".absent" }
  private var wasPutBack: Bool { access(absenceMark, F_OK) == 0 }

  /// Puts a plugin in its place, and keeps the one that was there.
  ///
  /// - Parameter check: Checks the new plugin by a path at which it is complete, before anything is changed.
  /// - Returns: Whether another version was there.
  public func install(_ content: Content, check: (_ path: String) throws -> Void) throws -> Bool {
    let current = try read(path)
    try put(content, at: path) { staged in
      try check(staged)
      if let current { try keep(current) }
    }
    try remove(absenceMark)
    return current != nil
  }

  /// Takes the plugin away, and keeps it.
  public func remove() throws {
    guard let current = try read(path) else {
      throw Failure(file: path, observed: "does not exist", remedy: "taskhost plugins list shows what is there")
    }
    try keep(current)
    try remove(absenceMark)
    try remove(path)
    try remove(PluginSigning.signatureFile(of: path))
    try settle(path)
  }

  /// Puts back what the last change has replaced or removed, and keeps what is there now: a second call undoes the first.
  ///
  /// - Parameter check: See ``install(_:check:)``.
  public func rollBack(check: (_ path: String) throws -> Void) throws {
    if wasPutBack { return try remove() }
    guard let previous = hasPrevious ? try read(keptPath) : nil else {
      throw Failure(
        file: path, observed: "has no earlier version", remedy: "one is kept when plugins install or plugins remove replaces a file")
    }
    guard try !install(previous, check: check) else { return }
    do throws(WholeFile.Failure) { try WholeFile.make([], at: absenceMark, mode: 0o644) } catch {
      throw Self.failure(error.path, error.observed, error.reason)
    }
  }

  // MARK: Files

  /// Reads a plugin of this directory. What is kept is published with the mode of a plugin, so links and files of strangers are refused.
  private func read(_ path: String) throws(Failure) -> Content? { try Content.read(path, trust: .owned(by: owner)) }

  private func keep(_ content: Content) throws {
    let folder = Self.previousFolder(in: directory)
    guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw Self.failure(folder, "cannot be created", .last) }
    try checkPreviousFolder()
    try put(content, at: keptPath)
  }

  /// Writes a plugin and its signature elsewhere, and then moves both to `path` and beside it.
  ///
  /// - Parameter prepare: Called with the place at which they are complete, before anything is changed.
  private func put(_ content: Content, at path: String, after prepare: (_ staged: String) throws -> Void = { _ in }) throws {
    let stage = try makeStage()
    defer { Self.removeFolder(stage) }
    let staged = "\(stage)/\(name)"
    try write(content, at: staged)
    try prepare(staged)
    if content.signature != nil {
      try move(PluginSigning.signatureFile(of: staged), to: PluginSigning.signatureFile(of: path))
    } else {
      try remove(PluginSigning.signatureFile(of: path))
    }
    try move(staged, to: path)
    try settle(path)
  }

  private func write(_ content: Content, at path: String) throws(Failure) {
    do throws(WholeFile.Failure) {
      try WholeFile.make(content.plugin, at: path, mode: name.hasSuffix(".so") ? 0o755 : 0o644)
      if let signature = content.signature { try WholeFile.make(signature, at: PluginSigning.signatureFile(of: path), mode: 0o644) }
    } catch { throw Self.failure(error.path, error.observed, error.reason) }
  }

  private func makeStage() throws(Failure) -> String {
    let path = "\(directory)/\(Self.stagePrefix)\(Hex.text((0..<8).map { _ in UInt8.random(in: 0...255) }))"
    guard mkdir(path, 0o700) == 0 else { throw Self.failure(path, "cannot be created", .last) }
    return path
  }

  /// What a command that was killed has left.
  private func removeStages() {
    let names = (try? DirectoryNames.list(at: directory)) ?? []
    for name in names where name.hasPrefix(Self.stagePrefix) { Self.removeFolder("\(directory)/\(name)") }
  }

  private static func removeFolder(_ path: String) {
    for name in (try? DirectoryNames.list(at: path)) ?? [] { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  private func move(_ path: String, to target: String) throws(Failure) {
    guard rename(path, target) == 0 else { throw Self.failure(target, "cannot be replaced", .last) }
  }

  private func remove(_ path: String) throws(Failure) {
    guard unlink(path) == 0 || errno == ENOENT else { throw Self.failure(path, "cannot be removed", .last) }
  }

  private func settle(_ path: String) throws(Failure) {
    do throws(WholeFile.Failure) { try WholeFile.settle(path) } catch { throw Self.failure(error.path, error.observed, error.reason) }
  }

  private static func failure(_ path: String, _ observed: String, _ reason: ErrorNumber) -> Failure {
    let isForbidden = reason.code == EACCES || reason.code == EPERM
    return Failure(
      file: path, observed: "\(observed): \(reason)",
      remedy: isForbidden ? "run this as the owner of the directory" : "check the directory and the disk")
  }

  /// A lock on a directory, until it is released or its process ends.
  private final class Lock {
    private let descriptor: Int32

    init(_ directory: String) throws(Failure) {
      descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else { throw failure(directory, "cannot be opened", .last) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let reason = ErrorNumber.last
        close(descriptor)
        guard reason.code == EWOULDBLOCK else { throw failure(directory, "cannot be locked", reason) }
        throw Failure(file: directory, observed: "is being changed by another command", remedy: "try again when that has ended")
      }
    }

    deinit { close(descriptor) }
  }
}
