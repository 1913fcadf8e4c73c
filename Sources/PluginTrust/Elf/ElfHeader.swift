/// The first 64 bytes of a file, checked to be those of a shared object for this machine.
struct ElfHeader: Sendable, Equatable {
  let programHeaderOffset: UInt64
  let programHeaderCount: Int

  init(reading file: BoundedFile) throws(Rejection) {
    guard file.size > 0 else { throw .empty }
    let available = Int(min(file.size, UInt64(ElfConstants.headerSize)))
    let start = try file.read("its ELF header", at: 0, count: available)
    let magic = ElfConstants.magic.prefix(available)
    guard start.bytes.starts(with: magic) else { throw .notElf }
    guard available == ElfConstants.headerSize else {
      throw .truncated("its ELF header", needs: UInt64(ElfConstants.headerSize), size: file.size)
    }
    guard start.bytes[4] == ElfConstants.class64 else { throw .wrongClass }
    guard start.bytes[5] == ElfConstants.littleEndian else { throw .wrongByteOrder }
    guard start.bytes[6] == 1, start.number(at: 20, as: UInt32.self) == 1 else { throw .malformed("its ELF version is not 1") }
    let machine: UInt16 = start.number(at: 18)
    guard machine == ElfConstants.machine else { throw .wrongMachine(machine, expected: ElfConstants.machineName) }
    guard ElfConstants.systems.contains(start.bytes[7]) else { throw .wrongSystem(start.bytes[7]) }
    let type: UInt16 = start.number(at: 16)
    guard type != ElfConstants.typeExecutable else { throw .executable }
    guard type == ElfConstants.typeShared else { throw .notSharedObject(type) }

    let count = Int(start.number(at: 56, as: UInt16.self))
    guard count <= ElfConstants.programHeaderLimit else { throw .tooManyHeaders(count, limit: ElfConstants.programHeaderLimit) }
    guard count > 0, start.number(at: 54, as: UInt16.self) == UInt16(ElfConstants.programHeaderSize) else {
      throw .malformed("it has no program headers of \(ElfConstants.programHeaderSize) bytes")
    }
    programHeaderCount = count
    programHeaderOffset = start.number(at: 32)
    let (end, overflow) = programHeaderOffset.addingReportingOverflow(UInt64(count * ElfConstants.programHeaderSize))
    guard !overflow else { throw .offsetOverflow("its program headers") }
    guard end <= file.size else { throw .headersBeyondEnd(end: end, size: file.size) }
  }
}
