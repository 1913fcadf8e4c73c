// Plugins/TokenRefresh
