import Glibc
import TaskModel
import Testing
import TypedCalls

/// Libraries that know nothing of taskhost, called as they are on every system.
@Suite("Typed calls of system libraries") struct SystemLibraryTests {
  private func output(_ library: String, _ symbol: String, _ signature: String, _ payload: String) throws -> String {
    let handle = try #require(dlopen(library, RTLD_NOW | RTLD_LOCAL), "\(library) is not installed")
    let function = unsafeBitCast(try #require(dlsym(handle, symbol)), to: TypedFunction.self)
    let signature = try TypedSignature(signature)
    let call = try TypedCall(signature: signature, function: function, success: signature.result.successRules.contains(.any) ? .any : nil)
    let returned = call(try TypedArguments(payload: Array(payload.utf8), of: signature), task: 0, outputLimit: 65_536)
    return String(decoding: returned.output, as: UTF8.self)
  }

  /// zlib takes the length as `uInt`: a register's lower half, so that a `size_t` below 2³² is the same (System V x86-64, AAPCS64).
  @Test("crc32 of zlib gives the check value of its polynomial")
  func crc32() throws {
    #expect(try output("libz.so.1", "crc32", "u64(u64 crc, bytes data)", #"{"crc":0,"data":"MTIzNDU2Nzg5"}"#) == "3421780262")
    #expect(try output("libz.so.1", "crc32_z", "u64(u64 crc, bytes data)", #"{"crc":0,"data":"MTIzNDU2Nzg5"}"#) == "3421780262")
    #expect(try output("libz.so.1", "crc32", "u64(u64 crc, bytes data?)", "{\"crc\":0}") == "0")
  }

  @Test("SQLite tells its version and whether a statement is complete")
  func sqlite() throws {
    #expect(try output("libsqlite3.so.0", "sqlite3_libversion", "str()", "").hasPrefix("\"3."))
    #expect(try output("libsqlite3.so.0", "sqlite3_complete", "i32(str sql)", #"{"sql":"SELECT 1;"}"#) == "1")
    #expect(try output("libsqlite3.so.0", "sqlite3_complete", "i32(str sql)", #"{"sql":"SELECT 1"}"#) == "0")
  }

  @Test("strlen counts bytes, not characters")
  func strlen() throws {
    #expect(try output("libc.so.6", "strlen", "u64(str text)", #"{"text":"grüß"}"#) == "6")
  }

  @Test("pow and powf of libm take and return numbers in floating-point registers")
  func pow() throws {
    #expect(try output("libm.so.6", "pow", "f64(f64 base, f64 exponent)", #"{"base":2,"exponent":0.5}"#) == "1.4142135623730951")
    #expect(try output("libm.so.6", "powf", "f32(f32 base, f32 exponent)", #"{"base":2,"exponent":0.5}"#) == "1.4142135")
  }
}
