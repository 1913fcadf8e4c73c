import Glibc
import PluginTrust
import StrictText

/// The name of a key: the first 64 bits of a digest of it. It is in every value that the key has sealed, and tells nothing about the key.
public struct KeyID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The bits.
  public let bits: UInt64

  /// Names a key.
  public init(bits: UInt64) { self.bits = bits }

  /// The 16 hexadecimal digits.
  public var description: String { Hex.text(bytes) }

  /// The bits, the highest first.
  var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) } }

  init(_ bytes: some Sequence<UInt8>) { bits = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }

  /// Orders by the digits.
  public static func < (left: KeyID, right: KeyID) -> Bool { left.bits < right.bits }
}

/// A key with which values are sealed. It is never printed, and its memory is wiped after use.
public final class SealingKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// The size of a key in bytes.
  static let size = 32

  /// The key's name.
  public let id: KeyID
  let secret: SecretBytes

  /// - Parameter bytes: ``size`` bytes. The caller wipes them.
  init(_ bytes: [UInt8]) {
    var named = Array("taskhost store key\0".utf8) + bytes
    defer { named.wipe() }
    id = KeyID(SHA256.digest(of: named))
    secret = SecretBytes(count: bytes.count) { _ = $0.update(fromContentsOf: bytes) }
  }

  /// Creates a key from the system's random numbers; nil if there are none.
  static func generate() -> SealingKey? {
    var bytes = [UInt8](repeating: 0, count: size)
    defer { bytes.wipe() }
    return getentropy(&bytes, size) == 0 ? SealingKey(bytes) : nil
  }

  /// `key` and its name.
  public var description: String { "key \(id)" }

  /// Shows only the name.
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// The keys of a host: the first one seals, all of them open.
public struct KeyRing: Sendable {
  /// The keys, the one that seals first.
  public let keys: [SealingKey]

  /// The key that seals.
  public var current: SealingKey { keys[0] }

  /// - Parameter keys: At least one.
  init?(_ keys: [SealingKey]) {
    guard !keys.isEmpty else { return nil }
    self.keys = keys
  }

  /// The key of that name; nil if the ring lacks it.
  public func key(_ id: KeyID) -> SealingKey? { keys.first { $0.id == id } }

  /// The names of all keys.
  public var ids: [KeyID] { keys.map(\.id) }
}
