import NIOCore
package import TaskModel

/// Writes metrics in Prometheus' text format, version 0.0.4.
///
/// - Source: https://prometheus.io/docs/instrumenting/exposition_formats/
package struct MetricsWriter {
  package enum Kind: String {
    case counter, gauge, histogram
  }

  /// The labels of samples, as they are written: many samples share them.
  package struct Labels: ExpressibleByDictionaryLiteral {
    fileprivate var text: [UInt8] = []

    package init(dictionaryLiteral elements: (String, String)...) {
      for (name, value) in elements {
        if !text.isEmpty { text.append(UInt8(ascii: ",")) }
        text += Array(name.utf8)
        text += Array("=\"".utf8)
        escape(value)
        text.append(UInt8(ascii: "\""))
      }
    }

    private mutating func escape(_ value: String) {
      for byte in value.utf8 {
        switch byte {
        case UInt8(ascii: "\\"), UInt8(ascii: "\""): text += [UInt8(ascii: "\\"), byte]
        case UInt8(ascii: "\n"): text += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
        default: text.append(byte)
        }
      }
    }
  }

  private(set) var buffer: ByteBuffer

  package init(reservingCapacity capacity: Int) { buffer = ByteBufferAllocator().buffer(capacity: capacity) }

  /// What has been written.
  package var text: String { String(buffer: buffer) }

  /// Begins a metric; its samples follow.
  package mutating func metric(_ name: String, _ kind: Kind, _ help: String) {
    buffer.writeString("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n")
  }

  package mutating func sample(_ name: String, _ labels: Labels, _ value: some BinaryInteger) { sample(name, labels, text: String(value)) }

  /// A sample in seconds.
  mutating func sample(_ name: String, _ labels: Labels, _ value: Duration) { sample(name, labels, text: Self.seconds(value)) }

  /// A sample in seconds since the Unix epoch.
  package mutating func sample(_ name: String, _ labels: Labels, _ value: WallTime) {
    sample(name, labels, value - WallTime(unixMilliseconds: 0))
  }

  /// The buckets, sum and count of a histogram.
  ///
  /// A host with a thousand identifiers has tens of thousands of buckets, so they are written in place.
  mutating func sample(_ name: String, _ labels: Labels, _ value: DurationHistogram) {
    let head = Array(name.utf8) + Self.bucket + labels.text + (labels.text.isEmpty ? [] : [UInt8(ascii: ",")])
    var count: UInt64 = 0
    let most = (head.count + Self.longestBound + Self.longestNumber + 1) * Self.bounds.count
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: most) { room in
      var rest = room
      func write(_ bytes: [UInt8]) {
        rest.copyBytes(from: bytes)
        rest = UnsafeMutableRawBufferPointer(rebasing: rest[bytes.count...])
      }
      for (bucket, bound) in zip(value.counts, Self.bounds) {
        count &+= bucket
        write(head)
        write(bound)
        let digits = Self.write(count, to: rest)
        rest[digits] = UInt8(ascii: "\n")
        rest = UnsafeMutableRawBufferPointer(rebasing: rest[(digits + 1)...])
      }
      return room.count - rest.count
    }
    sample(name + "_sum", labels, value.sum)
    sample(name + "_count", labels, count)
  }

  private static let bucket = Array("_bucket{".utf8)
  /// The last label of each bucket, `le="…"} `.
  private static let bounds = (DurationHistogram.bounds.map(seconds) + ["+Inf"]).map { Array("le=\"\($0)\"} ".utf8) }
  private static let longestBound = bounds.map(\.count).max() ?? 0
  private static let longestNumber = String(UInt64.max).utf8.count

  /// Writes a number's digits, and returns how many they are.
  private static func write(_ number: UInt64, to room: UnsafeMutableRawBufferPointer) -> Int {
    var (rest, count) = (number, 0)
    repeat { (rest, count) = (rest / 10, count + 1) } while rest > 0
    rest = number
    for place in (0..<count).reversed() {
      room[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    return count
  }

  private mutating func sample(_ name: String, _ labels: Labels, text: String) {
    buffer.writeString(name)
    if !labels.text.isEmpty {
      buffer.writeInteger(UInt8(ascii: "{"))
      buffer.writeBytes(labels.text)
      buffer.writeInteger(UInt8(ascii: "}"))
    }
    buffer.writeInteger(UInt8(ascii: " "))
    buffer.writeString(text)
    buffer.writeInteger(UInt8(ascii: "\n"))
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
