/// One entry of the dynamic symbol table.
struct ElfSymbol: Sendable, Equatable {
  let name: UInt32
  let type: UInt8
  let section: UInt16
  let value: UInt64
  let size: UInt64

  init(_ bytes: FileBytes) {
    name = bytes.number(at: 0)
    type = bytes.number(at: 4, as: UInt8.self) & 0xf
    section = bytes.number(at: 6)
    value = bytes.number(at: 8)
    size = bytes.number(at: 16)
  }

  /// Whether `dlsym` would accept it, by the rules of glibc's `check_match`.
  var isDefined: Bool {
    section != ElfConstants.sectionUndefined && ElfConstants.symbolTypesLookedUp.contains(type)
      && (value != 0 || section == ElfConstants.sectionAbsolute || type == ElfConstants.symbolThreadLocal)
  }

  /// Whether its value is an address in the file's memory.
  var isAddress: Bool { section != ElfConstants.sectionAbsolute && type != ElfConstants.symbolThreadLocal }
}
