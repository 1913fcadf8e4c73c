/// The beginnings of ids that a list shows.
enum ShortIDText {
  /// The least length: the time of an id (RFC 9562, version 7), to the millisecond.
  static let least = 13

  /// How many characters of each id tell them apart, so that a command takes what the list shows.
  static func length(of ids: some Sequence<String>) -> Int {
    let sorted = Set(ids).sorted()
    return zip(sorted, sorted.dropFirst()).reduce(least) { length, pair in
      max(length, zip(pair.0, pair.1).prefix { $0 == $1 }.count + 1)
    }
  }
}
