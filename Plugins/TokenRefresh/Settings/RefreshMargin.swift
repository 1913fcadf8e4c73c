/// How long before its end an access token is refreshed.
enum RefreshMargin: Sendable, Equatable {
  /// A share of the lifetime, 1 to 99 hundredths.
  case percent(Int)
  case duration(Duration)

  init?(text: String) {
    if text.hasSuffix("%") {
      guard let percent = Int(text.dropLast()), (1...99).contains(percent), !text.hasPrefix("+") else { return nil }
      self = .percent(percent)
    } else {
      guard let duration = Duration(text: text), duration >= .seconds(1) else { return nil }
      self = .duration(duration)
    }
  }
}
