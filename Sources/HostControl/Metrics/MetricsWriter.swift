import TaskModel

/// Writes metrics in Prometheus' text format, version 0.0.4.
///
/// - Source: https://prometheus.io/docs/instrumenting/exposition_formats/
struct MetricsWriter {
  enum Kind: String {
    case counter, gauge, histogram
  }

  typealias Labels = KeyValuePairs<String, String>

  private(set) var bytes: [UInt8] = []

  init(reservingCapacity capacity: Int) { bytes.reserveCapacity(capacity) }

  /// Begins a metric; its samples follow.
  mutating func metric(_ name: String, _ kind: Kind, _ help: String) {
    append("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n")
  }

  mutating func sample(_ name: String, _ labels: Labels, _ value: some BinaryInteger) {
    begin(name, labels)
    append(String(value))
    bytes.append(UInt8(ascii: "\n"))
  }

  /// A sample in seconds.
  mutating func sample(_ name: String, _ labels: Labels, _ value: Duration) {
    begin(name, labels)
    append(Self.seconds(value))
    bytes.append(UInt8(ascii: "\n"))
  }

  /// A sample in seconds since the Unix epoch.
  mutating func sample(_ name: String, _ labels: Labels, _ value: WallTime) {
    sample(name, labels, value - WallTime(unixMilliseconds: 0))
  }

  /// The buckets, sum and count of a histogram.
  mutating func sample(_ name: String, _ labels: Labels, _ value: DurationHistogram) {
    let head = Self.labels(labels)
    var count: UInt64 = 0
    for (bucket, bound) in zip(value.counts, Self.bounds) {
      count &+= bucket
      append(name)
      append("_bucket{")
      append(head)
      if !head.isEmpty { bytes.append(UInt8(ascii: ",")) }
      append(bound)
      append(String(count))
      bytes.append(UInt8(ascii: "\n"))
    }
    sample(name + "_sum", labels, value.sum)
    sample(name + "_count", labels, count)
  }

  /// The labels of the buckets, `le="…"} `.
  private static let bounds = DurationHistogram.bounds.map { "le=\"\(seconds($0))\"} " } + ["le=\"+Inf\"} "]

  private mutating func begin(_ name: String, _ labels: Labels) {
    append(name)
    if !labels.isEmpty {
      bytes.append(UInt8(ascii: "{"))
      append(Self.labels(labels))
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(UInt8(ascii: " "))
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private static func labels(_ labels: Labels) -> String {
    var text = ""
    for (name, value) in labels {
      if !text.isEmpty { text += "," }
      text += name
      text += "=\""
      text += escaped(value)
      text += "\""
    }
    return text
  }

  private static func escaped(_ value: String) -> String {
    guard value.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\n") }) else {
      return value
    }
    return value.reduce(into: "") { text, character in
      switch character {
      case "\\": text += "\\\\"
      case "\"": text += "\\\""
      case "\n": text += "\\n"
      default: text.append(character)
      }
    }
  }

  /// Seconds with at most six decimals.
  private static func seconds(_ duration: Duration) -> String {
    let (whole, nanoseconds) = duration.wholeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let microseconds = nanoseconds.magnitude / 1000
    guard microseconds != 0 else { return String(whole) }
    let decimals = String(microseconds)
    let digits = String(repeating: "0", count: 6 - decimals.count) + decimals
    let sign = whole == 0 && nanoseconds < 0 ? "-" : ""
    return "\(sign)\(whole).\(digits.trimmingSuffix(while: { $0 == "0" }))"
  }
}

extension String {
  fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> Substring {
    self[...(lastIndex { !isTrimmed($0) } ?? startIndex)]
  }
}
