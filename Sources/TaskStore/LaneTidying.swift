/// Decides when to search for empty lanes, and keeps track of the search.
///
/// Only a request that leaves its lane can empty it. A search of all lanes begins once half as many requests have left their lanes as there
/// are lanes. Each departure thus pays for at most two lanes, and at most a third of the lanes stay empty for long.
struct LaneTidying {
  /// Below this count, skip the search.
  static let few = 1024

  /// The number of requests that have left their lanes since the last search. Starts high because the count of a previous host process is
  /// unknown.
  var left = Int.max / 4
  /// The last lane that was examined; nil if no search is in progress.
  var after: Int64?
}
