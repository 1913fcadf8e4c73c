// PluginTrust
