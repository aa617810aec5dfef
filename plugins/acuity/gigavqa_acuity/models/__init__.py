"""The catalogue's entries that this package brings, and the checkpoint that `built-in:sight` means."""
