"""The forms of files that are for UltraVR's records alone."""

from gigavqa.construction.ultravr.slide_folder import SlideFolderReader

READERS = (SlideFolderReader(),)
