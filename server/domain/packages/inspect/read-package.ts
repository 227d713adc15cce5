import { fstatSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { PackageFile } from '#db/schema/index.ts';
import { hasDocumentVersion, manifestFileName } from '#protocol/manifest.ts';
import type { Limits } from '#server/platform/limits.ts';
import { checkCommands, commandLinesOf } from './commands.ts';
import { readContents } from './contents.ts';
import { type DirectoryEntry, readDirectory } from './directory.ts';
import { readEndRecord } from './end-record.ts';
import { kindFaults, permissions } from './entry-kind.ts';
import { decodeName, NameRegister, nameFaults } from './entry-name.ts';
import { type ExpectedPackage, Findings, type Inspection, type PackageManifest } from './finding.ts';
import { readFormula } from './formula/read-formula.ts';
import { readLocalHeader } from './local-header.ts';
import { manifestTextOf, parseManifest } from './manifest.ts';
import { NestedArchives } from './nested.ts';
import type { PlacedEntry } from './placed-entry.ts';
import { findRootFiles, type RootFiles } from './root-files.ts';
import { HeadReader } from './script-head.ts';
import { confirmWithYauzl } from './second-reader.ts';

/**
 * Packages and entries that unpack to at most this many bytes may have any compression ratio, because text compresses
 * well.
 */
const ratioFloor = 1024 * 1024;
/** Possible lengths of a data descriptor in bytes: with or without a signature, 32-bit or zip64. */
const descriptorBytes = [12, 16, 20, 24];

/**
 * Reads an untrusted package and returns its contents or its faults. Runs in a worker that may be stopped at any time.
 * Writes no files except nested archives, as temporary files next to the package.
 */
export async function readPackage(
  path: string,
  limits: Limits,
  expected: ExpectedPackage = { kind: null, name: null },
): Promise<Inspection> {
  const handle = await open(path, 'r');
  try {
    return await new PackageReader(path, handle.fd, limits).read(expected);
  } finally {
    await handle.close();
  }
}

class PackageReader {
  private readonly path: string;
  private readonly fd: number;
  private readonly size: number;
  private readonly limits: Limits;
  readonly faults = new Findings('more_faults');
  readonly warnings = new Findings('more_warnings');

  constructor(path: string, fd: number, limits: Limits) {
    this.path = path;
    this.fd = fd;
    this.size = fstatSync(fd).size;
    this.limits = limits;
  }

  async read(expected: ExpectedPackage): Promise<Inspection> {
    const end = readEndRecord(this.fd, this.size);
    if ('code' in end) return { ok: false, faults: [end] };
    const directory = readDirectory(this.fd, end, this.limits.package.entries);
    if (!Array.isArray(directory)) return { ok: false, faults: [directory] };

    const placed = directory.map((entry) => this.place(entry));
    this.checkNames(placed);
    this.checkRanges(placed, end.directoryOffset);
    const unpackable = this.checkSizes(directory);

    const root = findRootFiles(placed, expected.kind, this.faults);
    const bytes = await this.readAll(placed, root, unpackable);
    const files = placed.filter(isFile).map(describe);
    const manifestBytes = bytesOf(bytes, root.manifest);
    const read =
      root.kind === 'handler'
        ? this.readHandler(manifestBytes, files)
        : readFormula(
            { metadata: manifestBytes, options: bytesOf(bytes, root.options), files, folders: foldersOf(placed) },
            expected.name,
            this.limits,
            this,
          );
    if (this.faults.count === 0 && !(await confirmWithYauzl(this.fd, placed))) this.faults.add('', 'zip_directory');
    if (this.faults.count > 0 || read === null || manifestBytes === null) {
      return { ok: false, faults: this.faults.list() };
    }
    return { ok: true, ...read, manifestText: manifestTextOf(manifestBytes), files, warnings: this.warnings.list() };
  }

  /** Checks the manifest and the commands of a handler. `bytes` is null if the manifest could not be read. */
  private readHandler(bytes: Buffer | null, files: readonly PackageFile[]): PackageManifest | null {
    const { manifest, value } =
      bytes === null ? { manifest: null, value: undefined } : parseManifest(bytes, this.limits.jsonDepth, this.faults);
    if (manifest !== null && !hasDocumentVersion(value)) {
      this.warnings.add(`${manifestFileName}#/0/version`, 'manifest_version');
    }
    const commands = checkCommands(commandLinesOf(value), files);
    for (const { path, code, params } of commands.faults) this.faults.add(path, code, params);
    for (const { path, code, params } of commands.warnings) this.warnings.add(path, code, params);
    return manifest && { kind: 'handler', manifest, settingsSchema: null };
  }

  /** Reads the name, the kind and the local header of an entry, and adds the faults of all three. */
  private place(entry: DirectoryEntry): PlacedEntry {
    const name = decodeName(entry.rawName, entry.flags, entry.extraFields);
    const add = (code: Parameters<Findings['add']>[1], params?: Parameters<Findings['add']>[2]) =>
      this.faults.add(entry.shown, code, params);
    for (const { code, params } of entry.faults) add(code, params);
    const limit = this.limits.package.entryNameBytes;
    if (entry.rawName.length > limit) add('entry_name_long', { limit });
    if (entry.rawName.length === 0) add('entry_name_form');
    else if (name === null) add('entry_name_encoding');
    else for (const code of nameFaults(name)) add(code);
    for (const { code, params } of kindFaults(entry, name ?? entry.shown)) add(code, params);

    if (entry.offset >= this.size) {
      add('entry_outside');
      return { entry, name, dataStart: null };
    }
    const local = readLocalHeader(this.fd, entry);
    if ('differs' in local) {
      add('entry_headers_differ', { field: local.differs });
      return { entry, name, dataStart: null };
    }
    return { entry, name, dataStart: local.dataStart };
  }

  private checkNames(placed: readonly PlacedEntry[]): void {
    const register = new NameRegister();
    for (const { entry, name } of placed) {
      const fault = name === null ? null : register.add(name);
      if (fault !== null) this.faults.add(entry.shown, fault.code, fault.params);
    }
  }

  /**
   * Rejects bytes before the first entry, overlapping entries, and entries that do not end before the directory. Gaps
   * are only warnings.
   */
  private checkRanges(placed: PlacedEntry[], directoryOffset: number): void {
    const inOrder = placed.filter((one) => one.dataStart !== null).sort((a, b) => a.entry.offset - b.entry.offset);
    const first = inOrder[0]?.entry.offset ?? 0;
    if (first > 0 && inOrder.length === placed.length) this.faults.add('', 'zip_prepended', { bytes: first });
    let end = first;
    let descriptor = false;
    let unlisted = 0;
    for (const one of inOrder) {
      const gap = one.entry.offset - end;
      if (gap < 0) {
        this.faults.add(one.entry.shown, 'entry_overlap');
        one.dataStart = null;
      } else if (gap > 0 && !(descriptor && descriptorBytes.includes(gap))) unlisted += gap;
      const dataEnd = (one.dataStart ?? one.entry.offset) + one.entry.packed;
      if (dataEnd > directoryOffset) {
        this.faults.add(one.entry.shown, 'entry_outside');
        one.dataStart = null;
      }
      end = Math.max(end, Math.min(dataEnd, directoryOffset));
      descriptor = (one.entry.flags & 0x8) !== 0;
    }
    const last = directoryOffset - end;
    if (last > 0 && !(descriptor && descriptorBytes.includes(last))) unlisted += last;
    if (unlisted > 0 && inOrder.length === placed.length) this.warnings.add('', 'zip_unlisted', { bytes: unlisted });
  }

  /** Checks declared sizes against the limits before unpacking. Returns false if unpacking would exceed them. */
  private checkSizes(directory: readonly DirectoryEntry[]): boolean {
    const { unpackedBytes, ratio } = this.limits.package;
    const before = this.faults.count;
    const total = directory.reduce((sum, entry) => sum + entry.unpacked, 0);
    if (total > unpackedBytes) this.faults.add('', 'package_unpacked', { limit: unpackedBytes });
    if (total > ratioFloor && total > ratio * this.size) {
      this.faults.add('', 'package_ratio', { ratio: Math.round(total / this.size), limit: ratio });
    }
    for (const entry of directory) {
      if (entry.unpacked > ratioFloor && entry.unpacked > ratio * entry.packed) {
        const actual = Math.round(entry.unpacked / Math.max(1, entry.packed));
        this.faults.add(entry.shown, 'entry_ratio', { ratio: actual, limit: ratio });
      }
    }
    return this.faults.count === before;
  }

  /**
   * Unpacks every entry whose data was found, or only the files at the root that are read if `unpackable` is false, to
   * verify what the entries declare. Returns the bytes of the files that are read.
   */
  private async readAll(
    placed: readonly PlacedEntry[],
    root: RootFiles,
    unpackable: boolean,
  ): Promise<Map<DirectoryEntry, Buffer>> {
    const limit = this.limits.package.manifestBytes;
    const read = new Map<DirectoryEntry, Buffer>();
    const nested = new NestedArchives(this.path, this.size, this.limits);
    for (const { entry, dataStart } of placed) {
      const isManifest = entry === root.manifest?.entry;
      const isRead = isManifest || entry === root.options?.entry;
      const tooLarge = isManifest ? 'manifest_too_large' : 'options_too_large';
      if (isRead && entry.unpacked > limit) this.faults.add(entry.shown, tooLarge, { limit });
      const wanted = isRead && entry.unpacked <= limit;
      if (dataStart === null || (entry.method !== 0 && entry.method !== 8) || (entry.flags & 1) !== 0) continue;
      if (!unpackable && !wanted) continue;
      const chunks: Buffer[] = [];
      const head = new HeadReader();
      const archive = nested.watch();
      const fault = await readContents(this.fd, entry, dataStart, (chunk) => {
        if (wanted) chunks.push(chunk);
        head.take(chunk);
        archive.take(chunk);
      });
      if (fault !== null) this.faults.add(entry.shown, fault.code, fault.params);
      else {
        if (wanted) read.set(entry, Buffer.concat(chunks));
        if (head.isScriptWithCrLf()) this.warnings.add(entry.shown, 'script_crlf');
      }
      const inside = await archive.finish();
      if (inside !== null) this.faults.add(entry.shown, inside.code, inside.params);
    }
    return read;
  }
}

const bytesOf = (read: ReadonlyMap<DirectoryEntry, Buffer>, file: PlacedEntry | null): Buffer | null =>
  file === null ? null : (read.get(file.entry) ?? null);

const foldersOf = (placed: readonly PlacedEntry[]): string[] =>
  placed.flatMap(({ name }) => (name?.endsWith('/') ? [name] : []));

function isFile(one: PlacedEntry): one is PlacedEntry & { name: string } {
  return one.name !== null && !one.name.endsWith('/');
}

function describe({ entry, name }: PlacedEntry & { name: string }): PackageFile {
  return { name, size: entry.unpacked, mode: permissions(entry) };
}
