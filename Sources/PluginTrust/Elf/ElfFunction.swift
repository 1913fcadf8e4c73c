/// A function that a library exports, as its file says without running any of it.
///
/// That there is one means: a shared object for this machine that `dlsym` finds the function in, in executable memory, and that looks for
/// libraries in trusted directories only.
struct ElfFunction: Sendable, Equatable {
  /// The libraries that its library needs, in its order.
  let libraries: [String]

  /// - Parameter symbol: The function's name.
  init(_ symbol: String, reading file: BoundedFile, policy: PluginTrustPolicy) throws(Objection) {
    let image = try ElfImage(reading: file, isLibrary: true)
    let dynamic = try ElfDynamic(reading: image)
    guard let found = try ElfSymbolTable(image: image, dynamic: dynamic).definition(of: symbol) else { throw .noSymbol(symbol) }
    // An indirect function is one that picks another for this processor when it is loaded, as strlen of the C library does.
    guard [ElfConstants.symbolFunction, ElfConstants.symbolIndirectFunction].contains(found.type), found.isAddress,
      let segment = image.segment(at: found.value, count: 1), segment.isExecutable, found.value - segment.address < segment.fileSize
    else { throw .symbolNotCode(symbol) }
    try dynamic.checkLibraries(policy)
    libraries = dynamic.libraries
  }
}
