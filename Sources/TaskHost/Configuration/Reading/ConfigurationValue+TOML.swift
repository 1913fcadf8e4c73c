import TOMLKit

extension ConfigurationValue {
  /// Copies a table. The parser's own iteration is not used: it traps on a key with a zero character in it.
  static func copy(_ table: TOMLTable) -> [String: ConfigurationValue] {
    var values: [String: ConfigurationValue] = [:]
    for key in table.keys {
      if let value = table[key] { values[key] = ConfigurationValue(value) }
    }
    return values
  }

  init(_ value: any TOMLValueConvertible) {
    switch value.type {
    case .string: self = .string(value.string ?? "")
    case .int: self = .integer(value.int ?? 0)
    case .double: self = .number(value.double ?? 0)
    case .bool: self = .bool(value.bool ?? false)
    case .date: self = .date(value.date.map(Self.text) ?? "")
    case .time: self = .date(value.time.map(Self.text) ?? "")
    case .dateTime: self = .date(value.dateTime.map(Self.text) ?? "")
    case .array: self = .array(value.array.map { $0.map { ConfigurationValue($0) } } ?? [])
    case .table: self = .table(value.table.map(Self.copy) ?? [:])
    }
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func text(_ date: TOMLDate) -> String {
    "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
  }

  private static func text(_ time: TOMLTime) -> String {
    let whole = "\(padded(time.hour, 2)):\(padded(time.minute, 2)):\(padded(time.second, 2))"
    guard time.nanoSecond > 0 else { return whole }
    var fraction = padded(time.nanoSecond, 9)
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return whole + "." + fraction
  }

  private static func text(_ moment: TOMLDateTime) -> String {
    let local = text(moment.date) + "T" + text(moment.time)
    guard let minutes = moment.offset?.offset else { return local }
    if minutes == 0 { return local + "Z" }
    let size = abs(minutes)
    return "\(local)\(minutes < 0 ? "-" : "+")\(padded(size / 60, 2)):\(padded(size % 60, 2))"
  }
}
