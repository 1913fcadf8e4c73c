import PluginTrust
import Testing

/// A way to damage a good plugin's bytes, and the refusal it must lead to. The number is the fault's in the project's list.
struct DamagedFile: Sendable, CustomTestStringConvertible {
  let fault: Int
  let what: String
  let code: PluginRefusal.Code
  let damage: @Sendable (inout ElfPatch) -> Void

  var testDescription: String { "fault \(fault): \(what)" }

  static let all: [DamagedFile] = [
    DamagedFile(fault: 1, what: "empty", code: .empty) { $0.bytes = [] },
    DamagedFile(fault: 2, what: "text", code: .notElf) { $0.bytes = Array("#!/bin/sh\necho plugin\n".utf8) },
    DamagedFile(fault: 2, what: "one byte of text", code: .notElf) { $0.bytes = [0x23] },
    DamagedFile(fault: 3, what: "magic only", code: .truncated) { $0.bytes = Array($0.bytes.prefix(4)) },
    DamagedFile(fault: 3, what: "63 bytes of header", code: .truncated) { $0.bytes = Array($0.bytes.prefix(63)) },
    DamagedFile(fault: 3, what: "header only", code: .headersBeyondEnd) { $0.bytes = Array($0.bytes.prefix(64)) },
    DamagedFile(fault: 3, what: "half of the file", code: .truncated) { $0.bytes = Array($0.bytes.prefix($0.bytes.count / 4)) },
    DamagedFile(fault: 4, what: "program headers beyond the end", code: .headersBeyondEnd) { $0.set(32, UInt64($0.bytes.count - 10)) },
    DamagedFile(fault: 5, what: "program headers overflow", code: .offsetOverflow) { $0.set(32, UInt64.max - 8) },
    DamagedFile(fault: 5, what: "segment in file overflows", code: .offsetOverflow) { $0.set($0.headers(1)[0] + 8, UInt64.max - 8) },
    DamagedFile(fault: 5, what: "segment in memory overflows", code: .offsetOverflow) { $0.set($0.headers(1)[0] + 16, UInt64.max - 8) },
    DamagedFile(fault: 5, what: "segment beyond the end", code: .truncated) { $0.set($0.headers(1)[0] + 8, UInt64(1) << 40) },
    DamagedFile(fault: 6, what: "65,535 program headers", code: .tooManyHeaders) { $0.set(56, UInt16.max) },
    DamagedFile(fault: 6, what: "no program headers", code: .malformed) { $0.set(56, UInt16(0)) },
    DamagedFile(fault: 7, what: "wrong machine", code: .wrongMachine) { $0.set(18, UInt16(243)) },
    DamagedFile(fault: 7, what: "wrong operating system", code: .wrongMachine) { $0.set(7, UInt8(9)) },
    DamagedFile(fault: 8, what: "32 bits", code: .wrongClass) { $0.set(4, UInt8(1)) },
    DamagedFile(fault: 8, what: "big-endian", code: .wrongByteOrder) { $0.set(5, UInt8(2)) },
    DamagedFile(fault: 9, what: "fixed-address program", code: .executable) { $0.set(16, UInt16(2)) },
    DamagedFile(fault: 9, what: "object file", code: .notSharedObject) { $0.set(16, UInt16(1)) },
    DamagedFile(fault: 9, what: "core dump", code: .notSharedObject) { $0.set(16, UInt16(4)) },
    DamagedFile(fault: 5, what: "no dynamic segment", code: .malformed) { $0.set($0.headers(2)[0], UInt32(0)) },
    DamagedFile(fault: 5, what: "dynamic section elsewhere in memory", code: .malformed) {
      $0.set($0.headers(2)[0] + 16, $0.number($0.headers(2)[0] + 16, size: 8) + 16)
    },
    DamagedFile(fault: 5, what: "dynamic section without end", code: .malformed) { $0.set($0.headers(2)[0] + 32, UInt64(32)) },
    DamagedFile(fault: 5, what: "string table outside", code: .malformed) { patch in
      if let value = patch.dynamicValue(5) { patch.set(value, UInt64.max - 1) }
    },
    DamagedFile(fault: 5, what: "symbol table outside", code: .malformed) { patch in
      if let value = patch.dynamicValue(6) { patch.set(value, UInt64(1) << 40) }
    },
    DamagedFile(fault: 5, what: "hash table outside", code: .malformed) { patch in
      if let value = patch.dynamicValue(0x6fff_fef5) { patch.set(value, UInt64(1) << 40) }
    },
    DamagedFile(fault: 5, what: "overlapping segments", code: .malformed) { $0.set($0.headers(1)[1] + 16, UInt64(0)) },
  ]
}
