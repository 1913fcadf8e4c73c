extension PluginRefusal {
  /// The stable names of the reasons. Never rename them: they appear in status, logs, metrics and the HTTP interface.
  public enum Code: String, Sendable, CaseIterable {
    // The file as a file.

    /// The file's name is not UTF-8 or has control characters.
    case badName = "bad_name"
    /// A symbolic link, even if dangling or looping.
    case symbolicLink = "symbolic_link"
    /// A directory, FIFO, device or socket.
    case notRegular = "not_regular"
    /// Another hard link to a previously listed file.
    case sameFile = "same_file"
    /// The file or its directory is owned by neither root nor the host's user.
    case wrongOwner = "wrong_owner"
    /// Group or others can write the file, its directory or an ancestor.
    case writableByOthers = "writable_by_others"
    /// Larger than the host's limit.
    case tooBig = "too_big"
    /// The system cannot open or read it.
    case unreadable
    /// It changed while it was being checked.
    case changed
    /// The host could not make the private copy, or lost it.
    case copyFailed = "copy_failed"
    /// This version of the host does not support it.
    case unsupported

    // The file as ELF.

    /// The file is empty.
    case empty
    /// Not an ELF file.
    case notElf = "not_elf"
    /// The file is shorter than its content declares.
    case truncated
    /// Program headers beyond the end of the file.
    case headersBeyondEnd = "headers_beyond_end"
    /// The sum of an offset and a size does not fit 64 bits.
    case offsetOverflow = "offset_overflow"
    /// More program headers than any linker writes.
    case tooManyHeaders = "too_many_headers"
    /// Built for another processor or operating system.
    case wrongMachine = "wrong_machine"
    /// 32-bit.
    case wrongClass = "wrong_class"
    /// Big-endian.
    case wrongByteOrder = "wrong_byte_order"
    /// A program, not a library.
    case executable
    /// An object file, a core dump or another ELF file that cannot be loaded.
    case notSharedObject = "not_shared_object"
    /// A structure inside the file contradicts itself.
    case malformed
    /// A library search path, or a library named with a path, outside system and Swift directories.
    case libraryPath = "library_path"

    // The file as a plugin.

    /// Does not export `taskhost_plugin_launch`.
    case noEntry = "no_entry"
    /// `taskhost_plugin_launch` is not a function in executable memory.
    case entryNotCode = "entry_not_code"
    /// Does not export `taskhost_plugin_abi_version`, or a version other than the host's.
    case abiVersion = "abi_version"
    /// `taskhost_plugin_handler_limit` is not a number the host accepts.
    case handlerLimit = "handler_limit"
    /// `taskhost_plugin_shutdown` is not a function in executable memory.
    case shutdownNotCode = "shutdown_not_code"
    /// The ELF note is malformed.
    case badNote = "bad_note"
    /// The ELF note differs from the registration.
    case noteDisagrees = "note_disagrees"
    /// The signature is missing, invalid, for another file or by another key.
    case signature

    // A manifest that adopts a library.

    /// The manifest's text is not TOML or not a manifest.
    case badManifest = "bad_manifest"
    /// The library that the manifest names does not exist.
    case libraryMissing = "library_missing"
    /// The library does not export the symbol.
    case noSymbol = "no_symbol"
    /// The symbol is not a function.
    case symbolNotCode = "symbol_not_code"

    // Loading and launch.

    /// `dlopen` did not find a needed library, or the needed version of it.
    case dependencyMissing = "dependency_missing"
    /// `dlopen` found no definition of a needed symbol.
    case unresolvedSymbol = "unresolved_symbol"
    /// The launch crashed, exited or returned an error status.
    case launchFailed = "launch_failed"
    /// The launch did not return within the launch budget.
    case launchTimeout = "launch_timeout"
    /// The launch returned without registering a handler.
    case registeredNothing = "registered_nothing"
    /// The launch registered more handlers than the plugin's limit.
    case registeredTwice = "registered_twice"
    /// Another plugin has the identifier.
    case identifierTaken = "identifier_taken"
    /// The configuration does not permit the identifier.
    case notPermitted = "not_permitted"
    /// The registration itself is malformed: identifier, kind, handler, size or signature.
    case invalidRegistration = "invalid_registration"
    /// A run of the plugin was abandoned and its thread has not ended, or the plugin is quarantined.
    case suspended
  }
}
