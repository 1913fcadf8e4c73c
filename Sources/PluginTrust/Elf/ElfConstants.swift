/// The constants of the ELF format, from the System V ABI and `elf.h` of glibc.
enum ElfConstants {
  static let magic: [UInt8] = [0x7f, 0x45, 0x4c, 0x46]
  static let class64: UInt8 = 2
  static let littleEndian: UInt8 = 1
  /// The OS ABI numbers that glibc loads: System V and GNU.
  static let systems: Set<UInt8> = [0, 3]

  static let typeExecutable: UInt16 = 2
  static let typeShared: UInt16 = 3

  #if arch(x86_64)
    static let machine: UInt16 = 62
    static let machineName = "x86_64"
  #elseif arch(arm64)
    static let machine: UInt16 = 183
    static let machineName = "aarch64"
  #else
    #error("taskhost runs on x86_64 and aarch64")
  #endif

  static let headerSize = 64
  static let programHeaderSize = 56
  /// Linkers write about 10 headers; more than this limit means an attack or damage.
  static let programHeaderLimit = 128

  static let segmentLoad: UInt32 = 1
  static let segmentDynamic: UInt32 = 2
  static let segmentInterpreter: UInt32 = 3
  static let segmentNote: UInt32 = 4
  static let flagExecute: UInt32 = 1

  static let dynamicEntrySize = 16
  /// 64 KiB of dynamic section. Real ones have about 30 entries plus one for each needed library.
  static let dynamicEntryLimit = 4096

  static let symbolSize = 24
  static let symbolObject: UInt8 = 1
  static let symbolFunction: UInt8 = 2
  static let symbolThreadLocal: UInt8 = 6
  static let symbolIndirectFunction: UInt8 = 10
  /// The symbol types that glibc looks up: none, object, function, common, thread-local, indirect function.
  static let symbolTypesLookedUp: Set<UInt8> = [0, 1, 2, 5, 6, 10]
  static let sectionUndefined: UInt16 = 0
  static let sectionAbsolute: UInt16 = 0xfff1

  static let flags1PositionIndependentExecutable: UInt64 = 0x0800_0000

  static func machineName(_ machine: UInt16) -> String {
    switch machine {
    case 3: "x86"
    case 8: "mips"
    case 20: "ppc"
    case 21: "ppc64"
    case 22: "s390x"
    case 40: "arm"
    case 62: "x86_64"
    case 183: "aarch64"
    case 243: "riscv"
    default: "machine number \(machine)"
    }
  }
}
