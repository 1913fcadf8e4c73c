extension RandomAccessCollection where Index == Int {
  /// The index of the element with this key; nil if there is none. The elements must be in the order of their keys, which differ.
  func index<Key: Comparable>(of key: Key, by path: KeyPath<Element, Key>) -> Int? {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle][keyPath: path] < key { low = middle + 1 } else { high = middle }
    }
    return low < endIndex && self[low][keyPath: path] == key ? low : nil
  }
}
