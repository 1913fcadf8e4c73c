/// Sorted pairs of a rank and an id, stored as an array in pieces, so that an insertion or removal moves few other pairs.
struct SortedKeys {
  /// A pair, ordered by rank, then id.
  struct Key: Comparable {
    var rank: Int64
    var id: Int64

    static func < (left: Key, right: Key) -> Bool { left.rank == right.rank ? left.id < right.id : left.rank < right.rank }
  }

  /// The pieces. None is empty, and none has more than ``longest`` keys.
  private var pieces: [[Key]] = []
  private(set) var count = 0

  private static let longest = 256

  var isEmpty: Bool { count == 0 }
  var first: Key? { pieces.first?.first }

  /// Adds a key that does not exist yet.
  mutating func insert(_ key: Key) {
    count += 1
    guard let piece = piece(of: key) else { return pieces.append([key]) }
    let position = Self.position(of: key, in: pieces[piece])
    pieces[piece].insert(key, at: position)
    guard pieces[piece].count > Self.longest else { return }
    // Keys mostly arrive in ascending order; then the piece stays full instead of being halved.
    let middle = piece == pieces.count - 1 && position >= Self.longest ? Self.longest : Self.longest / 2
    let tail = Array(pieces[piece][middle...])
    pieces[piece].removeSubrange(middle...)
    pieces.insert(tail, at: piece + 1)
  }

  /// Removes a key if it exists.
  mutating func remove(_ key: Key) {
    guard let piece = piece(of: key) else { return }
    let position = Self.position(of: key, in: pieces[piece])
    guard position < pieces[piece].count, pieces[piece][position] == key else { return }
    count -= 1
    pieces[piece].remove(at: position)
    if pieces[piece].isEmpty { pieces.remove(at: piece) }
  }

  /// Visits the keys in ascending order until `body` returns false.
  func visit(_ body: (Key) -> Bool) {
    for piece in pieces { for key in piece where !body(key) { return } }
  }

  /// Visits the keys in descending order until `body` returns false.
  func visitReversed(_ body: (Key) -> Bool) {
    for piece in pieces.reversed() { for key in piece.reversed() where !body(key) { return } }
  }

  /// At most `limit` of the first keys whose rank is at most `rank`.
  func prefix(through rank: Int64, limit: Int) -> [Key] {
    var found: [Key] = []
    guard limit > 0 else { return found }
    visit { key in
      guard key.rank <= rank else { return false }
      found.append(key)
      return found.count < limit
    }
    return found
  }

  /// The piece that has the key or would have it; nil if there are no pieces.
  private func piece(of key: Key) -> Int? {
    guard !pieces.isEmpty else { return nil }
    var (low, high) = (0, pieces.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if let last = pieces[middle].last, last < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The position of the first key that is not below `key`.
  private static func position(of key: Key, in piece: [Key]) -> Int {
    var (low, high) = (0, piece.count)
    while low < high {
      let middle = (low + high) / 2
      if piece[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
