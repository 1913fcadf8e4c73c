import Glibc

/// A ``PluginRefusal`` without its file.
struct Rejection: Error, Sendable, Equatable {
  let code: PluginRefusal.Code
  let observed: String
  let remedy: String

  func refusal(of file: String) -> PluginRefusal { PluginRefusal(code: code, file: file, observed: observed, remedy: remedy) }

  /// Runs `body` and turns a rejection into the refusal of `file`.
  static func refusing<Result>(_ file: String, _ body: () throws(Rejection) -> Result) throws(PluginRefusal) -> Result {
    do throws(Rejection) { return try body() } catch { throw error.refusal(of: file) }
  }
}

/// All messages with which this module refuses a file.
extension Rejection {
  private static let rebuild = "Rebuild the plugin; if it was copied here, copy it again."
  private static let relink = "Link the plugin as a shared object (cc -shared -fPIC, or a dynamic library product)."

  // MARK: The file as a file

  static let badName = Rejection(
    code: .badName, observed: "the file's name is not UTF-8 or has control characters",
    remedy: "Rename the file.")

  static let symbolicLink = Rejection(
    code: .symbolicLink, observed: "is a symbolic link; its target could change after the check",
    remedy: "Put the plugin's file into the directory instead of a link.")

  static func notRegular(_ kind: String) -> Rejection {
    Rejection(code: .notRegular, observed: "is a \(kind), not a regular file", remedy: "Remove it, or put a plugin's file in its place.")
  }

  static func sameFile(as first: String) -> Rejection {
    Rejection(
      code: .sameFile, observed: "is a hard link to \(first)", remedy: "Keep one of the two; a plugin can register only once.")
  }

  static func wrongOwner(_ what: String, path: String, owner: UInt32, user: UInt32) -> Rejection {
    let accepted = user == 0 ? "root (0)" : "root (0) or the host's user (\(user))"
    return Rejection(
      code: .wrongOwner, observed: "\(what) is owned by user \(owner), not by \(accepted)", remedy: "Run: chown \(user) '\(path)'.")
  }

  static func writable(_ what: String, path: String, mode: UInt32) -> Rejection {
    let who =
      switch (mode & 0o020 != 0, mode & 0o002 != 0) {
      case (true, true): "group and others"
      case (false, true): "others"
      default: "group"
      }
    return Rejection(
      code: .writableByOthers, observed: "\(what) can be written by \(who) (mode 0\(String(mode & 0o7777, radix: 8)))",
      remedy: "Run: chmod go-w '\(path)'.")
  }

  static func tooBig(size: UInt64, limit: UInt64) -> Rejection {
    Rejection(
      code: .tooBig, observed: "is \(size) bytes, more than the \(limit) a plugin may have",
      remedy: "Strip the plugin, or ship its data in separate files.")
  }

  static func unreadable(_ number: Int32) -> Rejection {
    Rejection(
      code: .unreadable, observed: "cannot be read: \(String(cString: strerror(number)))",
      remedy: "Give the host's user permission to read the file, and check the disk.")
  }

  static let changed = Rejection(
    code: .changed, observed: "changed while it was being checked",
    remedy: "Copy a plugin under another name and rename it into place, then reload.")

  static func copyFailed(_ number: Int32) -> Rejection {
    Rejection(
      code: .copyFailed, observed: "its private copy cannot be written: \(String(cString: strerror(number)))",
      remedy: "Free space on the state directory's disk, and check that the host may write there.")
  }

  static let copyLost = Rejection(
    code: .copyFailed, observed: "its private copy is missing or was changed",
    remedy: "Reload to copy the plugin again. Do not change files in the copies directory.")

  // MARK: A manifest and its library

  static func manifestTooBig(size: UInt64, limit: UInt64) -> Rejection {
    Rejection(
      code: .tooBig, observed: "is \(size) bytes, more than the \(limit) a manifest may have", remedy: "Keep only its six keys.")
  }

  static let manifestNotText = Rejection(code: .badManifest, observed: "is not UTF-8 text", remedy: "Write the manifest again as UTF-8.")

  static func libraryName(_ name: String) -> Rejection {
    Rejection(
      code: .libraryMissing, observed: "names the library \"\(name)\", which is neither an absolute path nor a file name",
      remedy: "Write the path in full, or the name of a system library such as \"libz.so.1\".")
  }

  static func libraryMissing(_ library: String, _ number: Int32) -> Rejection {
    Rejection(
      code: .libraryMissing, observed: "its library \(library) cannot be found: \(String(cString: strerror(number)))",
      remedy: "Install the library, or correct the path.")
  }

  static func libraryNotFound(_ name: String, _ directories: [String]) -> Rejection {
    Rejection(
      code: .libraryMissing, observed: "its library \(name) is in none of \(directories.joined(separator: ", "))",
      remedy: "Install the library, or write its path in full.")
  }

  static func noSymbol(_ symbol: String) -> Rejection {
    Rejection(
      code: .noSymbol, observed: "does not export \(symbol)",
      remedy: "Correct the symbol: nm -D --defined-only lists what a library exports.")
  }

  static func symbolNotCode(_ symbol: String) -> Rejection {
    Rejection(code: .symbolNotCode, observed: "\(symbol) is data, not a function", remedy: "Name a function of the library.")
  }

  func about(library: String) -> Rejection {
    Rejection(code: code, observed: "its library \(library): \(observed)", remedy: remedy)
  }

  // MARK: The file as ELF

  static let empty = Rejection(code: .empty, observed: "is empty", remedy: rebuild)

  static let notElf = Rejection(
    code: .notElf, observed: "is not an ELF file", remedy: "Put a shared object here; scripts and text files are not plugins.")

  static func truncated(_ what: String, needs: UInt64, size: UInt64) -> Rejection {
    Rejection(code: .truncated, observed: "\(what) ends at byte \(needs), the file at byte \(size)", remedy: rebuild)
  }

  static func headersBeyondEnd(end: UInt64, size: UInt64) -> Rejection {
    Rejection(
      code: .headersBeyondEnd, observed: "its program headers end at byte \(end), the file at byte \(size)", remedy: rebuild)
  }

  static func offsetOverflow(_ what: String) -> Rejection {
    Rejection(code: .offsetOverflow, observed: "offset plus size of \(what) does not fit 64 bits", remedy: rebuild)
  }

  static func tooManyHeaders(_ count: Int, limit: Int) -> Rejection {
    Rejection(code: .tooManyHeaders, observed: "has \(count) program headers, more than \(limit)", remedy: rebuild)
  }

  static func wrongMachine(_ machine: UInt16, expected: String) -> Rejection {
    Rejection(
      code: .wrongMachine, observed: "is built for \(ElfConstants.machineName(machine)), this host runs on \(expected)",
      remedy: "Build the plugin for \(expected).")
  }

  static func wrongSystem(_ number: UInt8) -> Rejection {
    Rejection(
      code: .wrongMachine, observed: "is built for another operating system (OS ABI \(number))", remedy: "Build the plugin for Linux.")
  }

  static let wrongClass = Rejection(code: .wrongClass, observed: "is not a 64-bit file", remedy: "Build the plugin for 64 bits.")

  static let wrongByteOrder = Rejection(
    code: .wrongByteOrder, observed: "is not a little-endian file", remedy: "Build the plugin for this machine.")

  static let executable = Rejection(code: .executable, observed: "is a program, not a shared object", remedy: relink)

  static func notSharedObject(_ type: UInt16) -> Rejection {
    let kind =
      switch type {
      case 1: "an object file"
      case 4: "a core dump"
      default: "an ELF file of type \(type)"
      }
    return Rejection(code: .notSharedObject, observed: "is \(kind), not a shared object", remedy: relink)
  }

  static func malformed(_ observed: String) -> Rejection {
    Rejection(code: .malformed, observed: observed, remedy: rebuild)
  }

  static func searchPath(_ element: String) -> Rejection {
    Rejection(
      code: .libraryPath, observed: "searches for libraries in \"\(element)\", which is outside system and Swift directories",
      remedy: "Link without that -rpath, or set it to '$ORIGIN' or a directory such as /usr/lib.")
  }

  static func libraryNamedByPath(_ name: String) -> Rejection {
    Rejection(
      code: .libraryPath, observed: "needs the library \"\(name)\" by a path outside system and Swift directories",
      remedy: "Link against a library that has a soname without slashes.")
  }

  // MARK: The file as a plugin

  static let noEntry = Rejection(
    code: .noEntry, observed: "does not export taskhost_plugin_launch",
    remedy: "Define it, put TASKHOST_EXPORT before it (in C++ extern \"C\"), or move the library elsewhere if it is not a plugin.")

  static func notCode(_ code: PluginRefusal.Code, _ symbol: String) -> Rejection {
    Rejection(code: code, observed: "\(symbol) is data, not code", remedy: "Define it as a function.")
  }

  static let noVersion = Rejection(
    code: .abiVersion, observed: "does not export taskhost_plugin_abi_version",
    remedy: "Define it: TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION.")

  static func abiVersion(_ version: UInt32) -> Rejection {
    let advice =
      version > PluginABI.version
      ? "Rebuild with the taskhost \(PluginABI.version) header, or install a newer taskhost." : "Rebuild with the taskhost header."
    return Rejection(
      code: .abiVersion, observed: "unsupported ABI: built for version \(version), this host speaks \(PluginABI.version)", remedy: advice)
  }

  static func notNumber(_ code: PluginRefusal.Code, _ symbol: String) -> Rejection {
    Rejection(code: code, observed: "\(symbol) is not a variable of 4 bytes", remedy: "Define it as: const uint32_t \(symbol).")
  }

  static let handlerLimit = Rejection(
    code: .handlerLimit, observed: "taskhost_plugin_handler_limit is 0",
    remedy: "Omit it, which means 1, or give the number of handlers.")

  static func badNote(_ observed: String) -> Rejection {
    Rejection(
      code: .badNote, observed: "its taskhost note \(observed)",
      remedy: "Write the note with the taskhost header's macro, or omit it.")
  }
}
