extension CronSchedule {
  /// Times that are looked at: a week of every minute, and more.
  private static let most = 11_000
  /// How far is looked ahead, in seconds: nine years, so that a leap day comes twice.
  private static let horizon = 9 * 366 * 86_400

  /// The longest time between two times that follow each other, both in seconds since 1970; nil if there are no two.
  ///
  /// It looks at the times of some years, so that weekends, months and clock changes count. Of a schedule with very many times, it looks at
  /// the first ones.
  public func longestGap(after moment: Int) -> (from: Int, to: Int)? {
    var longest: (from: Int, to: Int)?
    guard var last = next(after: moment) else { return nil }
    let end = last + Self.horizon
    for _ in 0..<Self.most {
      guard let next = next(after: last), next <= end else { break }
      if next - last > longest.map({ $0.to - $0.from }) ?? 0 { longest = (last, next) }
      last = next
    }
    return longest
  }
}
