"""Files that operating systems and sync clients create in any folder."""

from __future__ import annotations

from fnmatch import fnmatchcase

SYSTEM_FILES = (
    # macOS: the Finder, Spotlight, disks of other systems
    ".ds_store", "._*", "icon\r", ".localized", ".volumeicon.icns", ".apdisk", ".appledouble", ".appledb",
    ".appledesktop", ".documentrevisions-v100", ".fseventsd", ".spotlight-v100", ".temporaryitems", ".trashes",
    ".com.apple.timemachine.*",
    # Windows: the Explorer, and roots of disks
    "thumbs.db", "thumbs.db:encryptable", "ehthumbs.db", "ehthumbs_vista.db", "desktop.ini", "$recycle.bin",
    "system volume information",
    # Linux: roots of disks, desktops, files that were removed while they were open
    "lost+found", ".directory", ".trash", ".trash-[0-9]*", ".fuse_hidden[0-9a-f]*", ".nfs[0-9a-f]*", ".nfs.[0-9a-f]*",
    ".smbdelete*", ".__afs*", ".panfs.*", ".snapshot", ".snapshots", "@eadir", "#recycle", "@recycle",
    # Dropbox, Google Drive, OneDrive
    ".dropbox", ".dropbox.attr", ".dropbox.cache", ".tmp.drivedownload", ".tmp.driveupload",
    ".849c9593-d756-4e56-8d6e-42412f2a707b",
    # Syncthing, Resilio
    ".stfolder", ".stfolder.removed-*", ".stignore", ".stversions", ".syncthing.*.tmp", "~syncthing~*.tmp",
    ".sync", ".syncarchive", ".syncid", ".syncignore", "*.!sync",
    # ownCloud, Nextcloud
    ".owncloudsync.log*", ".nextcloudsync.log*", ".sync_*.db", ".sync_*.db-shm", ".sync_*.db-wal",
    ".csync_journal.db*",
    # LibreOffice: files that are open
    ".~lock.*#",
)  # fmt: skip
"""Names of files and folders in lower case, with wildcards.

A model may be saved beside them, and they are never touched. Any other file may be somebody's work and protects its
folder from being written to, such as copies of conflicting changes by sync clients.
"""


def is_system_file(name: str) -> bool:
    """Return whether a file is one of an operating system or a sync client."""
    return any(fnmatchcase(name.lower(), pattern) for pattern in SYSTEM_FILES)
