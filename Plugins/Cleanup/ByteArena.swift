/// Many short byte strings kept one after another in large pieces: a string costs its length, and growing never copies what is there.
struct ByteArena: Sendable {
  private static let pieceSize = 1 << 18
  private var pieces: [[UInt8]] = []

  /// Adds `bytes` (at most 255) and returns where they are. nil when 4 GiB are full.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> UInt32? {
    if pieces.last.map({ $0.count + bytes.count > Self.pieceSize }) ?? true {
      guard (pieces.count + 1) * Self.pieceSize <= Int(UInt32.max) else { return nil }
      var piece: [UInt8] = []
      piece.reserveCapacity(Self.pieceSize)
      pieces.append(piece)
    }
    let last = pieces.count - 1
    let offset = last * Self.pieceSize + pieces[last].count
    pieces[last].append(contentsOf: bytes)
    return UInt32(offset)
  }

  /// The string of `length` bytes at `offset`.
  func bytes(at offset: UInt32, length: UInt8) -> [UInt8] {
    let start = Int(offset) % Self.pieceSize
    return Array(pieces[Int(offset) / Self.pieceSize][start..<start + Int(length)])
  }
}
