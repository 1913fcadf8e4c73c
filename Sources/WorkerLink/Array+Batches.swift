extension Array {
  /// Splits the array in order into parts of at most ``LinkFormat/batchCount`` elements and ``LinkFormat/batchBytes``. A larger element is
  /// alone. An empty array has no parts.
  func batches(_ size: (Element) -> Int) -> [[Element]] {
    var parts: [[Element]] = []
    var start = 0
    var bytes = 0
    for (index, element) in enumerated() {
      let more = size(element)
      if index > start, bytes + more > LinkFormat.batchBytes || index - start == LinkFormat.batchCount {
        parts.append(Array(self[start..<index]))
        start = index
        bytes = 0
      }
      bytes += more
    }
    guard start > 0 else { return isEmpty ? [] : [self] }
    parts.append(Array(self[start...]))
    return parts
  }
}
