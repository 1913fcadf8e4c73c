import Glibc
import HostThreads

/// The memory that the host lends to a launch and to runs. A run has one copy for each function that returned memory.
final class LentMemory: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  private let monitor = Monitor()
  private var ofLaunch: [LentPages] = []
  private var ofRuns: [UInt64: [String: LentPages]] = [:]
  /// Withdrawn pages, kept for a while so that no other mapping takes their place.
  private var withdrawn: [LentPages] = []
  private static let kept = 48

  /// Lends a copy of a text until ``endLaunch()``; returns the text itself if no memory is left.
  func lendToLaunch(_ text: UnsafePointer<CChar>) -> UnsafePointer<CChar> {
    guard let pages = LentPages(text) else { return text }
    monitor.locked { ofLaunch.append(pages) }
    return pages.bytes.assumingMemoryBound(to: CChar.self)
  }

  /// Withdraws the launch's pages. They are never freed, because launches are few.
  func endLaunch() {
    let over = monitor.locked { () -> [LentPages] in
      defer { ofLaunch = [] }
      return ofLaunch
    }
    over.forEach { $0.withdraw() }
  }

  /// Lends a copy of bytes to a run until ``end(_:)``, always the same for a function; nil if the run is unknown or no memory is left.
  func lend(_ bytes: UnsafeRawBufferPointer, from function: String, to task: UInt64) -> UnsafeRawPointer? {
    monitor.locked {
      if let pages = ofRuns[task]?[function] { return pages.bytes }
      guard ofRuns[task] != nil, let pages = LentPages(bytes) else { return nil }
      ofRuns[task]?[function] = pages
      return pages.bytes
    }
  }

  func begin(_ task: UInt64) { monitor.locked { ofRuns[task] = [:] } }

  func end(_ task: UInt64) {
    monitor.locked {
      let over = (ofRuns.removeValue(forKey: task) ?? [:]).values
      over.forEach { $0.withdraw() }
      withdrawn += over
      while withdrawn.count > Self.kept { withdrawn.removeFirst().free() }
    }
  }
}

/// Bytes that a plugin borrows, in pages of their own. They are read-only. Reading beyond their end, or any access after they are
/// withdrawn, kills the plugin at that point.
struct LentPages {
  private let base: UnsafeMutableRawPointer
  private let length: Int
  /// The first byte. A 0 byte follows the last byte, at the end of the last readable page.
  let bytes: UnsafeRawPointer

  /// Copies `bytes`; nil if no memory is left.
  init?(_ bytes: UnsafeRawBufferPointer) {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let readable = (bytes.count + 1 + page - 1) / page * page
    length = readable + page
    guard let base = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), base != MAP_FAILED else { return nil }
    self.base = base
    let start = base + (readable - bytes.count - 1)
    if let source = bytes.baseAddress { start.copyMemory(from: source, byteCount: bytes.count) }
    self.bytes = UnsafeRawPointer(start)
    mprotect(base, readable, PROT_READ)
    mprotect(base + readable, page, PROT_NONE)
  }

  /// Copies a text with its terminating zero; nil if no memory is left.
  init?(_ text: UnsafePointer<CChar>) { self.init(UnsafeRawBufferPointer(start: text, count: strlen(text))) }

  /// Makes any further access fail.
  func withdraw() { mprotect(base, length, PROT_NONE) }

  /// Unmaps the pages, so that another mapping may take their place.
  func free() { munmap(base, length) }
}
