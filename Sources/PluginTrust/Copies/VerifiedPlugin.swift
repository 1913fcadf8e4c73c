import StrictText
public import TaskModel

/// A plugin that passed the checks, and the host's private copy of it, which the host loads.
///
/// Later changes of the original (overwritten, truncated, replaced, removed) do not affect the copy.
public struct VerifiedPlugin: Sendable, Equatable {
  /// The original, whose path and marks serve for messages and ``remembered``. The ELF data was read from the copy.
  public let file: PluginFile

  /// The SHA-256 of the content, 32 bytes.
  public let digest: [UInt8]

  /// The absolute path of the copy.
  public let copy: String

  /// The file to remember for the next launch; nil if it changed so shortly before it was copied that its timestamps might hide a further
  /// change.
  public let remembered: KnownPluginFile?

  /// ``digest`` as 64 lower-case hexadecimal digits.
  public var digestText: String { Hex.text(digest) }
}
