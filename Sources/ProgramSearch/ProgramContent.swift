import Glibc

/// What the kernel looks at in a file that it is to start: the first line of a script, the headers of an ELF program.
struct ProgramContent {
  private let descriptor: Int32
  private let size: UInt64

  /// Bytes that the kernel reads of a file, in which the first line of a script must end.
  private static let headBytes = 256
  /// How many scripts may have a script as their interpreter, one after the other.
  private static let mostInterpreters = 4
  private static let elfHeaderBytes = 64
  /// Most program headers that are looked at.
  private static let mostSegments = 512

  /// Why the kernel would not start the content of a file, as a clause; nil if nothing is known against it, as of a file that this user may
  /// start and not read.
  static func flaw(of file: String) -> String? { flaw(of: file, depth: 0) }

  private static func flaw(of file: String, depth: Int) -> String? {
    let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
    return ProgramContent(descriptor: descriptor, size: UInt64(max(0, info.st_size))).flaw(depth)
  }

  private func flaw(_ depth: Int) -> String? {
    guard size > 0 else { return "it is empty" }
    guard let head = bytes(at: 0, Int(min(size, UInt64(Self.headBytes)))) else { return nil }
    if head.starts(with: [0x7f, 0x45, 0x4c, 0x46]) { return elfFlaw(head) }
    if head.starts(with: [0x23, 0x21]) { return scriptFlaw(head.dropFirst(2), depth) }
    return Self.hasOtherFormats ? nil : "it is neither a program nor a script that begins with #!"
  }

  // MARK: Scripts

  /// The program that the first line of a script names, by its absolute path; nil if the file is no script, or is not readable.
  static func interpreter(of file: String) -> String? {
    let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var head = [UInt8](repeating: 0, count: headBytes)
    let count = pread(descriptor, &head, headBytes, 0)
    guard count > 2, head.starts(with: [0x23, 0x21]) else { return nil }
    let name = interpreterName(head[2..<count])
    return name.hasPrefix("/") ? name : nil
  }

  /// - Parameter line: What follows `#!`.
  private static func interpreterName(_ line: ArraySlice<UInt8>) -> String {
    let blanks: Set<UInt8> = [0x20, 0x09]
    let words = line.prefix { $0 != 0x0a && $0 != 0 }.drop(while: blanks.contains)
    return String(decoding: words.prefix { !blanks.contains($0) }, as: UTF8.self)
  }

  private func scriptFlaw(_ head: ArraySlice<UInt8>, _ depth: Int) -> String? {
    let name = Self.interpreterName(head)
    guard !name.isEmpty else { return "its first line names no program after #!" }
    if name.hasSuffix("\r") {
      return "its first line ends with a carriage return, which counts as part of \(name.dropLast()): convert its line ends"
    }
    // A relative path depends on where the program starts.
    guard name.hasPrefix("/"), depth < Self.mostInterpreters else { return nil }
    let flaw = ProgramSearch.reachFlaw(of: name) ?? Self.flaw(of: name, depth: depth + 1)
    return flaw.map { "its first line names \(name): \($0)" }
  }

  // MARK: ELF

  private func elfFlaw(_ head: [UInt8]) -> String? {
    let truncated = "it is an incomplete program: it has been cut off"
    guard head.count >= Self.elfHeaderBytes else { return truncated }
    // Of programs for machines with 32 bits, only that they begin like one.
    guard head[4] == 2, head[5] == 1 else { return nil }
    func number(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    let (type, machine) = (number(head[16..<18]), number(head[18..<20]))
    guard type == 2 || type == 3 else { return "it is part of a program, not one: it has to be linked" }
    if let own = Self.machine, machine != own, !Self.hasOtherFormats { return "it is a program for another kind of processor" }
    let (start, each, count) = (number(head[32..<40]), number(head[54..<56]), number(head[56..<58]))
    guard each == 56, count <= UInt64(Self.mostSegments) else { return nil }
    guard let table = bytes(at: start, Int(each * count)) else { return truncated }
    for index in 0..<Int(count) {
      let segment = table[index * 56..<(index + 1) * 56]
      let base = segment.startIndex
      let (kind, offset, length) = (
        number(segment[base..<base + 4]), number(segment[base + 8..<base + 16]), number(segment[base + 32..<base + 40])
      )
      let (end, overflow) = offset.addingReportingOverflow(length)
      switch kind {
      case 1 where overflow || end > size: return truncated
      case 3 where length > 1 && length <= 4096:
        guard let name = bytes(at: offset, Int(length)) else { return truncated }
        let loader = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        if loader.hasPrefix("/"), access(loader, F_OK) != 0 { return "the loader that it needs, \(loader), is not there" }
      default: break
      }
    }
    return nil
  }

  /// The number of this processor's kind; nil for one that is not listed here.
  private static var machine: UInt64? {
    #if arch(x86_64)
      62
    #elseif arch(arm64)
      183
    #else
      nil
    #endif
  }

  /// Whether the kernel was told of more kinds of programs (binfmt_misc).
  private static var hasOtherFormats: Bool {
    guard let directory = opendir("/proc/sys/fs/binfmt_misc") else { return false }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if ![".", "..", "register", "status"].contains(name) { return true }
    }
    return false
  }

  /// nil if the file does not have them, or cannot be read.
  private func bytes(at offset: UInt64, _ count: Int) -> [UInt8]? {
    guard let place = off_t(exactly: offset) else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    guard count > 0 else { return bytes }
    return pread(descriptor, &bytes, count, place) == count ? bytes : nil
  }
}
