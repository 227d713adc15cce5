/**
 * The top-level modules of Python's standard library from version 3.6 to 3.13. Modules that some of these versions lack
 * are included, because only the machine's Python decides.
 */
export const standardModules: ReadonlySet<string> = new Set(
  `__future__ abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii
  binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys
  compileall concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime
  dbm decimal difflib dis distutils doctest dummy_threading email encodings ensurepip enum errno faulthandler fcntl
  filecmp fileinput fnmatch formatter fractions ftplib functools gc getopt getpass gettext glob graphlib grp gzip
  hashlib heapq hmac html http imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3
  linecache locale logging lzma macpath mailbox mailcap marshal math mimetypes mmap modulefinder multiprocessing netrc
  nis nntplib ntpath numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil
  platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pyexpat queue quopri
  random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site
  smtpd smtplib sndhdr socket socketserver spwd sqlite3 ssl stat statistics string stringprep struct subprocess sunau
  symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit
  tkinter token tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest urllib uu uuid
  venv warnings wave weakref webbrowser wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo`
    .replace('', '')
    .split(/\s+/),
);

/** Python's built-in functions and the names that the agent defines for the Body. */
export const knownCallables: ReadonlySet<string> = new Set(
  `abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex delattr
  dict dir divmod enumerate eval exec filter float format frozenset getattr globals hasattr hash help hex id input int
  isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow print property range
  repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip __import__
  ScriptError ScriptTimeout FileUnavailable StateUnavailable MissingParameter`.split(/\s+/),
);
