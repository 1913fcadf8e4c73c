extension PluginConfiguration {
  /// What the plugin's code may do, a sentence without a full stop each.
  var permissions: [String] { PluginPermissions(self).sentences }
}
