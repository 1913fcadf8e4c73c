import HostThreads

/// The memory that the host lends to a launch and to each run, by the function that returned it.
final class LentMemory: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  private let monitor = Monitor()
  private var ofLaunch: [LentPages] = []
  private var ofRuns: [UInt64: [String: LentPages]] = [:]
  /// Withdrawn pages, kept for a while so that nothing else is mapped there.
  private var withdrawn: [LentPages] = []
  private static let kept = 48

  /// Lends a text until ``endLaunch()``; returns the text itself if no memory is left.
  func lendToLaunch(_ text: UnsafePointer<CChar>) -> UnsafePointer<CChar> {
    guard let pages = LentPages(text) else { return text }
    monitor.locked { ofLaunch.append(pages) }
    return pages.bytes.assumingMemoryBound(to: CChar.self)
  }

  /// Ends the launch. Its pages are never freed, because launches are few.
  func endLaunch() {
    let over = monitor.locked { () -> [LentPages] in
      defer { ofLaunch = [] }
      return ofLaunch
    }
    over.forEach { $0.withdraw() }
  }

  /// Lends bytes to a run until ``end(_:)``, the same copy each time for a function; nil if the run is unknown or no memory is left.
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
