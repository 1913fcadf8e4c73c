import TaskModel

/// The numbers of the format: what both ends of a link agree on.
///
/// A message is a magic byte, a version, a kind, and the kind's fields: integers little-endian, texts and bytes after their length, an
/// optional after a byte 0 or 1, a list after its count. Every value has one encoding, so what decodes encodes to the same bytes. A message
/// of up to ``inlineBytes`` is a datagram; a larger one is the content of a sealed memfd, and the datagram says how long it is.
public enum LinkFormat {
  /// The version; both ends come from one release, so there is no talk between versions.
  public static let version: UInt32 = 5
  /// Bytes of a message that travels in its datagram; larger ones travel as a memfd.
  public static let inlineBytes = 32 << 10
  /// Bytes of the largest message.
  public static let messageBytes = 4 << 20
  /// Bytes at which a batch of runs or endings is full, unless one alone is larger.
  public static let batchBytes = 24 << 10
  /// Runs or endings of a batch.
  public static let batchCount = 4096
  /// Handlers of a plugin.
  public static let registrations = 64
  /// Bytes of the name of a plugin or thread. Longer ones are cut.
  public static let nameBytes = 4096
  /// Bytes of a path.
  public static let pathBytes = 4096
  /// Paths or ports in a list of a confinement.
  public static let confinementEntries = 4096
  /// Sentences in a list. Further ones are dropped.
  public static let sentences = 64
  /// Log lines that wait in a worker to be sent: one that comes then is dropped. So dropped lines are reported after as many that were sent.
  public static let waitingLines = 1000
  /// Bytes of a plugin's settings.
  public static let settingsBytes = 1 << 20

  /// The first byte of every message.
  static let magic: UInt8 = 0x54
  /// The second byte.
  static let versionByte = UInt8(version)
  /// The kind of a datagram that announces a memfd; no message has it.
  static let bodyElsewhere: UInt8 = 0xFF
  /// Bytes of such a datagram: magic, version, kind, length.
  static let announcementBytes = 7
}
