import HostThreads

/// What the host has lent to the plugin: to a launch, and to each run, by the function that gave it.
final class LentMemory: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  private let monitor = Monitor()
  private var ofLaunch: [LentPages] = []
  private var ofRuns: [UInt64: [String: LentPages]] = [:]
  /// Withdrawn, and kept so for a while that nothing else lies there.
  private var withdrawn: [LentPages] = []
  private static let kept = 48

  /// A text that is lent until ``endLaunch()``; the text itself where no memory is left.
  func lendToLaunch(_ text: UnsafePointer<CChar>) -> UnsafePointer<CChar> {
    guard let pages = LentPages(text) else { return text }
    monitor.locked { ofLaunch.append(pages) }
    return pages.bytes.assumingMemoryBound(to: CChar.self)
  }

  /// The launch is over. Its pages are never given back: launches are few.
  func endLaunch() {
    let over = monitor.locked { () -> [LentPages] in
      defer { ofLaunch = [] }
      return ofLaunch
    }
    over.forEach { $0.withdraw() }
  }

  /// Bytes that are lent to a run until ``end(_:)``, the same each time for a function; nil where the run is not known or no memory left.
  func lend(_ bytes: UnsafeRawBufferPointer, from function: String, to task: UInt64) -> UnsafeRawPointer? {
    monitor.locked {
      if let pages = ofRuns[task]?[function] { return pages.bytes }
      guard ofRuns[task] != nil, let pages = LentPages(bytes) else { return nil }
      ofRuns[task]?[function] = pages
      return pages.bytes
    }
  }

  /// A run begins.
  func begin(_ task: UInt64) { monitor.locked { ofRuns[task] = [:] } }

  /// The run's handler has returned.
  func end(_ task: UInt64) {
    monitor.locked {
      let over = (ofRuns.removeValue(forKey: task) ?? [:]).values
      over.forEach { $0.withdraw() }
      withdrawn += over
      while withdrawn.count > Self.kept { withdrawn.removeFirst().free() }
    }
  }
}
