// PluginRuntime
