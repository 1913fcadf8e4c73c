import Glibc

/// Bytes that a plugin borrows, in pages of their own: they cannot be written, what lies behind their end cannot be read, and once they
/// are withdrawn neither can they. What a plugin does wrong with them kills it there and then.
struct LentPages {
  private let base: UnsafeMutableRawPointer
  private let length: Int
  /// The first byte. A 0 byte, at the end of the last page that can be read, follows the last.
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

  /// As `init(_:)`, of a text with its end.
  init?(_ text: UnsafePointer<CChar>) { self.init(UnsafeRawBufferPointer(start: text, count: strlen(text))) }

  /// The time to use them is over.
  func withdraw() { mprotect(base, length, PROT_NONE) }

  /// Gives the pages back: another mapping may take their place.
  func free() { munmap(base, length) }
}
