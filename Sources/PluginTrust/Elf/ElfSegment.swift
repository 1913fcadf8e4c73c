struct ElfSegment: Sendable, Equatable {
  let type: UInt32
  let flags: UInt32
  let offset: UInt64
  let address: UInt64
  let fileSize: UInt64
  let memorySize: UInt64
  let alignment: UInt64

  init(_ bytes: FileBytes, at start: Int) {
    type = bytes.number(at: start)
    flags = bytes.number(at: start + 4)
    offset = bytes.number(at: start + 8)
    address = bytes.number(at: start + 16)
    fileSize = bytes.number(at: start + 32)
    memorySize = bytes.number(at: start + 40)
    alignment = bytes.number(at: start + 48)
  }

  var isExecutable: Bool { flags & ElfConstants.flagExecute != 0 }

  /// Refuses a segment that exceeds the file or whose addresses do not fit 64 bits.
  func checkBounds(fileSize size: UInt64) throws(Rejection) {
    let (end, fileOverflow) = offset.addingReportingOverflow(fileSize)
    let (_, memoryOverflow) = address.addingReportingOverflow(memorySize)
    guard !fileOverflow, !memoryOverflow else { throw .offsetOverflow("a segment") }
    guard end <= size else { throw .truncated("a segment", needs: end, size: size) }
  }
}
