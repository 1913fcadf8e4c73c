/// Reproducible random numbers from a seed: SplitMix64 (Steele, Lea and Flood, 2014).
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  /// The sequence of `seed` for the case `name`. Each case has its own sequence, independent of the other cases.
  init(seed: UInt64, for name: String) {
    // FNV-1a.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    state = seed ^ hash
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Returns `count` random bytes.
  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }

  /// A random part of `duration`, in whole microseconds.
  mutating func part(of duration: Duration) -> Duration {
    let microseconds = max(1, duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000)
    return .microseconds(Int64.random(in: 0...microseconds, using: &self))
  }
}
