import Glibc

/// The pages of a database that are in its write-ahead log.
///
/// - Source: sqlite.org/fileformat2.html, "The Write-Ahead Log": a header of 32 bytes, then frames with a header of 24 bytes and a page
///   each.
struct WALPages {
  /// The numbers of the pages, from 1. May include pages of frames after the last commit.
  private(set) var numbers: Set<UInt32> = []
  /// The number of frames up to the last commit that was read. What follows may be undone, and overwritten by the next commit.
  private(set) var frames = 0
  private var salt: [UInt8] = []

  /// Reads the log's current generation.
  ///
  /// - Parameters:
  ///   - path: The path of the log, which need not exist.
  ///   - known: An earlier result. If the generation is the same, only newer frames are read.
  /// - Returns: nil if the file cannot be read or is not a log.
  init?(_ path: String, since known: WALPages? = nil) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return }
      return nil
    }
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: 32)
    let count = header.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard count != 0 else { return }
    guard count == 32, Self.number(header, 0) & 0xFFFF_FFFE == 0x377F_0682 else { return nil }
    let pageSize = off_t(Self.number(header, 8))
    guard (512...65_536).contains(pageSize) else { return nil }
    salt = Array(header[16..<24])
    if let known, known.salt == salt { (numbers, frames) = (known.numbers, known.frames) }
    var frame = [UInt8](repeating: 0, count: 24)
    var place = frames
    while true {
      let offset = 32 + off_t(place) * (24 + pageSize)
      let count = frame.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, offset) }
      guard count >= 0 else { return nil }
      // A frame with another salt, and all that follow it, belong to an earlier generation.
      guard count == 24, frame[8..<16].elementsEqual(salt) else { return }
      numbers.insert(Self.number(frame, 0))
      place += 1
      // The size of the database after a commit, in its last frame.
      if Self.number(frame, 4) != 0 { frames = place }
    }
  }

  /// Removes the pages when a checkpoint has moved at least the frames that were read.
  ///
  /// - Parameter there: How many frames SQLite knows of: what follows is left over from a host that was killed.
  mutating func moved(_ count: Int, of there: Int) {
    frames = min(frames, there)
    if count >= frames { numbers = [] }
  }

  private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[offset + $1]) }
  }
}
