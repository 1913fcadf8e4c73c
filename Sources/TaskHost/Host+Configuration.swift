public import RecordJSON

extension Host {
  /// What the host was launched with, without secrets.
  public func loadedConfiguration() -> LoadedConfiguration {
    LoadedConfiguration(file: configuration.file, values: configuration.settings())
  }
}
