extension Array {
  /// Splits it, in its order, into parts of at most ``LinkFormat/batchCount`` elements whose `size` adds up to at most
  /// ``LinkFormat/batchBytes``; an element that is larger than that is alone. None for an empty array.
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
