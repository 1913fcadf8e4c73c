import TaskModel

/// The constants of the format, on which both ends of a link agree.
///
/// A message is a magic byte, a version, a kind, and the kind's fields: integers little-endian, texts and bytes after their length, an
/// optional after a byte 0 or 1, a list after its count. Every value has one encoding, so a decoded message encodes to the same bytes. A
/// message of up to ``datagramBytes`` is a datagram. A larger one travels in parts, each a datagram of kind 255 with the length of the message and the
/// next ``partBytes`` of it; the last part has the rest. Messages never carry descriptors: the kernel
/// limits how many of them one user may have in transit, and a plugin could use that up.
public enum LinkFormat {
  /// The version. Both ends come from one release, so versions are not negotiated.
  public static let version: UInt32 = 17
  /// The most bytes of a datagram.
  public static let datagramBytes = 32 << 10
  /// Bytes of the largest message.
  public static let messageBytes = 4 << 20
  /// The most bytes of a batch of runs or endings, unless it has only one.
  public static let batchBytes = 24 << 10
  /// The most runs or endings of a batch.
  public static let batchCount = 4096
  /// The most handlers of a plugin.
  public static let registrations = 64
  /// The most bytes of a plugin's or thread's name; longer names are cut.
  public static let nameBytes = 4096
  /// The most bytes of a path.
  public static let pathBytes = 4096
  /// The most paths or ports in a list of a confinement.
  public static let confinementEntries = 4096
  /// The most sentences in a list; further ones are dropped.
  public static let sentences = 64
  /// The most log lines that wait in a worker; further ones are dropped. So a report of dropped lines follows as many lines that were sent.
  public static let waitingLines = 1000
  /// The most predecessors, tags or resources of a submission that are read before its own limits are checked.
  public static let requestEntries = 4096
  /// The most bytes of a plugin's settings.
  public static let settingsBytes = 1 << 20

  static let magic: UInt8 = 0x54
  static let versionByte = UInt8(version)
  /// The kind of a datagram with a part of a message; no message uses it.
  static let part: UInt8 = 0xFF
  /// Bytes before that part: magic, version, kind, length of the message.
  static let partHeadBytes = 7
  /// Bytes of each part but the last.
  static let partBytes = datagramBytes - partHeadBytes
}
