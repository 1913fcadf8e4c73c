/// A function that a library exports, read from its file without running code.
///
/// A file that passes initialisation is a shared object for this machine, searches for libraries only in trusted directories, and has the
/// function where `dlsym` finds it in executable memory.
struct ElfFunction: Sendable, Equatable {
  /// The libraries that the function's library needs, in the file's order.
  let libraries: [String]

  init(_ symbol: String, reading file: BoundedFile, policy: PluginTrustPolicy) throws(Rejection) {
    let image = try ElfImage(reading: file, isLibrary: true)
    let dynamic = try ElfDynamic(reading: image)
    guard let found = try ElfSymbolTable(image: image, dynamic: dynamic).definition(of: symbol) else { throw .noSymbol(symbol) }
    // An indirect function selects an implementation for the processor at load time, such as strlen in the C library.
    let types = [ElfConstants.symbolFunction, ElfConstants.symbolIndirectFunction]
    guard types.contains(found.type), image.isCode(found) else { throw .symbolNotCode(symbol) }
    try dynamic.checkLibraries(policy)
    libraries = dynamic.libraries
  }
}
