/// TOML 1.0 values without quotes or brackets.
enum BareValue {
  /// Whether `text` has the form of a boolean, number, date or time. The parser checks ranges, such as a month 13.
  static func isWellFormed(_ text: String) -> Bool {
    let boolean = /true|false/
    let special = /[+\-]?(inf|nan)/
    let radix = /0x[0-9A-Fa-f](_?[0-9A-Fa-f])*|0o[0-7](_?[0-7])*|0b[01](_?[01])*/
    let number = /[+\-]?(0|[1-9](_?[0-9])*)(\.[0-9](_?[0-9])*)?([eE][+\-]?[0-9](_?[0-9])*)?/
    let date = /[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+\-][0-9]{2}:[0-9]{2})?)?/
    let time = /[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?/
    return text.wholeMatch(of: boolean) != nil || text.wholeMatch(of: number) != nil || text.wholeMatch(of: date) != nil
      || text.wholeMatch(of: time) != nil || text.wholeMatch(of: radix) != nil || text.wholeMatch(of: special) != nil
  }
}
