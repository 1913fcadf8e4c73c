public import Glibc
import HostThreads
import PluginTrust
import StrictText

/// Why a key file cannot be used or written. It never tells anything of a key but its name.
public struct KeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path of the file.
  public let path: String
  /// What was seen.
  public let observed: String
  /// What to do.
  public let remedy: String

  init(_ path: String, _ observed: String, remedy: String) { (self.path, self.observed, self.remedy) = (path, observed, remedy) }

  /// The path, what was seen and what to do, as a sentence.
  public var description: String { "\(path): \(observed): \(remedy)" }
}

/// A file with the keys of a store: a line for each with its name and the key in base64, the one that seals first. Lines that begin with `#`
/// are for people.
public enum KeyFile {
  /// The most bytes and keys of a file.
  private static let (largest, most) = (64 << 10, 64)

  private static let introduction = """
    # The keys of a taskhost store. The first one seals what is written from now on; all of them open what they have sealed.
    # Keep a copy elsewhere: without its keys, a sealed store and its backups cannot be read.

    """

  /// Where a file comes from.
  public enum Source: Sendable, Hashable {
    /// A path that the operator named.
    case file
    /// systemd, which hands it over as a credential.
    case credential
  }

  /// Reads the keys.
  ///
  /// - Parameter user: The host's user: this process's, unless root reads the file for the host.
  /// - Throws: Unless it is a regular file that only this user or root can read, with at least one key.
  public static func read(_ path: String, from source: Source = .file, user: UInt32 = geteuid()) throws(KeyFileError) -> KeyRing {
    var text: [UInt8]
    do throws(SigningFlaw) {
      text = try SmallFile.read(path, trust: source == .file ? .secret(of: user) : .credential(of: user), atMost: largest)
    } catch {
      throw KeyFileError(path, error.observed, remedy: remedy(for: error.observed, path))
    }
    defer { text.wipe() }
    do throws(LineFlaw) { return try parse(text) } catch {
      throw KeyFileError(
        path, error.line > 0 ? "line \(error.line) \(error.observed)" : error.observed,
        remedy: "put back the file that `taskhost store key` has written")
    }
  }

  private static func remedy(for observed: String, _ path: String) -> String {
    if observed.hasPrefix("can be used by") { return "run: chmod 600 '\(path)'; rotate the key if others could have read it" }
    if observed.hasPrefix("is owned by") { return "give the file to the host's user (chown), or hand it over as a systemd credential" }
    if observed == SmallFile.missing.observed {
      return "make a key: taskhost store key '\(path)'; or put back the file with the store's keys"
    }
    return "check its owner and mode, and the folders above it"
  }

  private struct LineFlaw: Error {
    /// From 1; 0 for the whole file.
    let line: Int
    let observed: String
  }

  private static func parse(_ text: [UInt8]) throws(LineFlaw) -> KeyRing {
    var keys: [SealingKey] = []
    for (index, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
      guard let first = words.first, first.first != UInt8(ascii: "#") else { continue }
      func flaw(_ observed: String) -> LineFlaw { LineFlaw(line: index + 1, observed: observed) }
      guard words.count == 2, let name = Hex.bytes(first, count: 8) else {
        throw flaw("must have the name of a key, 16 hexadecimal digits, and the key in base64")
      }
      var characters = Array(words[1])
      defer { characters.wipe() }
      guard var bytes = Base64.decode(characters), bytes.count == SealingKey.size else {
        throw flaw("has a key that is not \(SealingKey.size) bytes in base64")
      }
      defer { bytes.wipe() }
      let key = SealingKey(bytes)
      guard key.id == KeyID(name) else { throw flaw("has a key that is not the one of that name, so one of them was changed") }
      guard !keys.contains(where: { $0.id == key.id }) else { throw flaw("repeats the key \(key.id)") }
      keys.append(key)
    }
    guard keys.count <= most else { throw LineFlaw(line: 0, observed: "has \(keys.count) keys, more than \(most)") }
    guard let ring = KeyRing(keys) else { throw LineFlaw(line: 0, observed: "has no key") }
    return ring
  }

  // MARK: Writing

  /// What ``addKey(to:)`` did.
  public struct Addition: Sendable {
    /// The name of the new key, which seals from now on.
    public let id: KeyID
    /// The names of the keys that were there.
    public let earlier: [KeyID]
  }

  /// Makes a key and writes it in front of those in the file, which is created if it is missing. The file is replaced in one step, has mode
  /// 0600, and keeps its owner.
  public static func addKey(to path: String) throws(KeyFileError) -> Addition {
    var info = stat()
    let exists = lstat(path, &info) == 0
    if !exists, errno != ENOENT {
      throw KeyFileError(path, "cannot be examined: \(ErrorNumber.last)", remedy: "check the folder")
    }
    // A link would be replaced, and the file that the host reads would stay as it is.
    if exists, info.st_mode & S_IFMT != S_IFREG {
      throw KeyFileError(path, "is not a regular file", remedy: "name the file itself")
    }
    // Root may rotate the keys of the host's user.
    let earlier = exists ? try read(path, user: geteuid() == 0 ? info.st_uid : geteuid()).keys : []
    guard earlier.count < most else {
      throw KeyFileError(path, "has \(earlier.count) keys, the most that it may have", remedy: "remove those that the store needs no more")
    }
    guard let key = SealingKey.generate() else { throw KeyFileError(path, "the system has no random numbers", remedy: "try again") }
    var text = Array(introduction.utf8)
    defer { text.wipe() }
    for key in [key] + earlier {
      text += Array("\(key.id) ".utf8) + key.secret.withBytes { Array(Base64.encode(Array($0)).utf8) }
      text.append(UInt8(ascii: "\n"))
    }
    let temporary = "\(path).\(Hex.text((0..<8).map { _ in UInt8.random(in: 0...255) }))"
    do throws(WholeFile.Failure) {
      let isForeign = exists && info.st_uid != geteuid()
      try WholeFile.make(text, at: temporary, mode: 0o600, owner: isForeign ? (info.st_uid, info.st_gid) : nil)
      guard rename(temporary, path) == 0 else {
        let reason = ErrorNumber.last
        unlink(temporary)
        throw WholeFile.Failure(path: path, observed: "cannot be replaced", reason: reason)
      }
      try WholeFile.settle(path)
    } catch { throw KeyFileError(error.path, "\(error.observed): \(error.reason)", remedy: "check the folder and the disk") }
    return Addition(id: key.id, earlier: earlier.map(\.id))
  }
}
