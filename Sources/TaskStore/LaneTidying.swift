/// When lanes in which nobody waits are looked for, and how far that has come.
///
/// Only a request that leaves its lane can leave it empty. All lanes are looked at once half as many requests as there are lanes have left
/// theirs: so each of those pays for two lanes at most, and no more than a third of the lanes stay empty for long.
struct LaneTidying {
  /// So few are not looked at.
  static let few = 1024

  /// Requests that left their lane since the lanes were looked at last; of a host before, not known.
  var left = Int.max / 4
  /// The last lane that was looked at; nil if none is to be.
  var after: Int64?
}
