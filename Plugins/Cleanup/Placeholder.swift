// Plugins/Cleanup
