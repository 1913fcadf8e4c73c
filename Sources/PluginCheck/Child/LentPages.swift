import Glibc

/// Bytes that a plugin borrows, in separate pages. They are read-only, reading beyond their end fails, and so does any access after they
/// are withdrawn. A violation kills the plugin at that point.
struct LentPages {
  private let base: UnsafeMutableRawPointer
  private let length: Int
  /// The first byte. A 0 byte follows the last byte, at the end of the last readable page.
  let bytes: UnsafeRawPointer

  /// A copy of `bytes`; nil if no memory is left.
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

  /// As `init(_:)`, for a text including its terminating zero.
  init?(_ text: UnsafePointer<CChar>) { self.init(UnsafeRawBufferPointer(start: text, count: strlen(text))) }

  /// Makes any further access fail.
  func withdraw() { mprotect(base, length, PROT_NONE) }

  /// Gives the pages back: another mapping may take their place.
  func free() { munmap(base, length) }
}
