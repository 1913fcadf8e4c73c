/// The declarations in a plugin's file, read without running code.
///
/// A file that passes initialisation is a shared object for this machine and the host's ABI version, has a launch function in executable
/// memory, and searches for libraries only in trusted directories. A relocation or constructor can still change a number during loading, so
/// the runtime reads the numbers again.
public struct ElfSummary: Sendable, Equatable {
  /// The value of `taskhost_plugin_abi_version`.
  public let abiVersion: UInt32

  /// The maximum number of handlers: `taskhost_plugin_handler_limit`, or 1 if absent.
  public let handlerLimit: UInt32

  /// Whether the plugin exports `taskhost_plugin_shutdown`.
  public let hasShutdown: Bool

  /// The libraries that the plugin needs, in the file's order.
  public let libraries: [String]

  /// The elements of the plugin's RPATH and RUNPATH, all trusted.
  public let searchPath: [String]

  /// The plugin's taskhost note, if it has one.
  public let note: PluginNote?

  init(reading file: BoundedFile, policy: PluginTrustPolicy) throws(Rejection) {
    let image = try ElfImage(reading: file)
    let dynamic = try ElfDynamic(reading: image)
    let symbols = try ElfSymbolTable(image: image, dynamic: dynamic)
    guard try Self.exportsFunction(PluginABI.launchSymbol, symbols, image, .entryNotCode) else { throw .noEntry }
    guard let abiVersion = try Self.number(PluginABI.versionSymbol, symbols, image, .abiVersion) else { throw .noVersion }
    guard abiVersion == PluginABI.version else { throw .abiVersion(abiVersion) }
    let handlerLimit = try Self.number(PluginABI.handlerLimitSymbol, symbols, image, .handlerLimit) ?? 1
    guard handlerLimit > 0 else { throw .handlerLimit }
    hasShutdown = try Self.exportsFunction(PluginABI.shutdownSymbol, symbols, image, .shutdownNotCode)
    try dynamic.checkLibraries(policy)
    self.abiVersion = abiVersion
    self.handlerLimit = handlerLimit
    libraries = dynamic.libraries
    searchPath = dynamic.searchPath
    note = try PluginNote(reading: image)
  }

  /// Whether the file exports `name`, which must then be a function whose first byte is in the file part of an executable segment.
  private static func exportsFunction(
    _ name: String, _ symbols: ElfSymbolTable, _ image: ElfImage, _ code: PluginRefusal.Code
  ) throws(Rejection) -> Bool {
    guard let symbol = try symbols.definition(of: name) else { return false }
    guard symbol.type == ElfConstants.symbolFunction, image.isCode(symbol) else { throw .notCode(code, name) }
    return true
  }

  /// The value of an exported `uint32_t`; nil if the file does not export it.
  private static func number(
    _ name: String, _ symbols: ElfSymbolTable, _ image: ElfImage, _ code: PluginRefusal.Code
  ) throws(Rejection) -> UInt32? {
    guard let symbol = try symbols.definition(of: name) else { return nil }
    guard symbol.type == ElfConstants.symbolObject, symbol.size == 4, symbol.isAddress else { throw .notNumber(code, name) }
    return try image.read(name, address: symbol.value, count: 4).number(at: 0)
  }
}
