import { crc32, deflateRawSync } from 'node:zlib';

/** Deliberately false values for the fields of a header. Omitted fields keep their correct values. */
export interface HeaderLies {
  name?: Buffer | string;
  flags?: number;
  method?: number;
  crc32?: number;
  packed?: number;
  unpacked?: number;
  extra?: Buffer;
}

/** An entry of a zip. It can have false values, as in a hostile zip. */
export interface ZipEntry {
  name: Buffer | string;
  data?: Buffer | string;
  /** Unix file type and permissions; by default, a regular file with 0644. 0 means an entry from DOS. */
  mode?: number;
  /** The compression method: 0 for stored, 8 (the default) for deflated. */
  method?: 0 | 8;
  /** False values for both the local and the central header. */
  lies?: HeaderLies;
  /** False values for only the local or the central header. They take precedence over `lies`. */
  local?: HeaderLies;
  central?: HeaderLies & { offset?: number };
  /** Bytes to write instead of the compressed data. */
  raw?: Buffer;
  /** Bytes to insert between this entry and the next. */
  gap?: Buffer;
  /** Writes the sizes and the offset as zip64 fields. */
  zip64?: boolean;
  /** Writes the sizes and the checksum after the data, in a data descriptor. */
  descriptor?: boolean;
}

export interface ZipOptions {
  /** Changes the end record before it is written. */
  end?: (record: Buffer) => void;
  /** Whether to write zip64 end records. A function can change the zip64 end record first. */
  zip64?: boolean | ((record: Buffer) => void);
  comment?: string;
}

const utf8 = 0x0800;
const saturated = 0xffffffff;

/** Returns the bytes of a zip, which can be invalid. */
export function buildZip(entries: readonly ZipEntry[], options: ZipOptions = {}): Buffer {
  const body: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const data = Buffer.from(entry.data ?? '');
    const method = entry.method ?? 8;
    const packed = entry.raw ?? (method === 8 ? deflateRawSync(data) : data);
    const truth: Required<HeaderLies> = {
      name: entry.name,
      flags: utf8 | (entry.descriptor ? 0x8 : 0),
      method,
      crc32: crc32(data),
      packed: packed.length,
      unpacked: data.length,
      extra: Buffer.alloc(0),
    };
    const fields = { ...truth, ...entry.lies };
    const inLocal = entry.descriptor ? { ...fields, crc32: 0, packed: 0, unpacked: 0 } : fields;
    const header = localHeader({ ...inLocal, ...entry.local }, entry.zip64 ?? false);
    directory.push(centralHeader({ ...fields, ...entry.central }, entry, entry.central?.offset ?? offset));
    const after = entry.descriptor ? descriptorOf(truth) : Buffer.alloc(0);
    for (const part of [header, packed, after, entry.gap ?? Buffer.alloc(0)]) {
      body.push(part);
      offset += part.length;
    }
  }
  const records = Buffer.concat(directory);
  return Buffer.concat([...body, records, ...endRecords(entries.length, records.length, offset, options)]);
}

function zip64Field(...values: number[]): Buffer {
  const field = Buffer.alloc(4 + values.length * 8);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(values.length * 8, 2);
  values.forEach((value, index) => {
    field.writeBigUInt64LE(BigInt(value), 4 + index * 8);
  });
  return field;
}

function localHeader(fields: Required<HeaderLies>, zip64: boolean): Buffer {
  const name = Buffer.from(fields.name);
  const extra = zip64 ? Buffer.concat([zip64Field(fields.unpacked, fields.packed), fields.extra]) : fields.extra;
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(zip64 ? 45 : 20, 4);
  head.writeUInt16LE(fields.flags, 6);
  head.writeUInt16LE(fields.method, 8);
  head.writeUInt32LE(fields.crc32, 14);
  head.writeUInt32LE(zip64 ? saturated : fields.packed, 18);
  head.writeUInt32LE(zip64 ? saturated : fields.unpacked, 22);
  head.writeUInt16LE(name.length, 26);
  head.writeUInt16LE(extra.length, 28);
  return Buffer.concat([head, name, extra]);
}

function centralHeader(fields: Required<HeaderLies>, entry: ZipEntry, offset: number): Buffer {
  const name = Buffer.from(fields.name);
  const zip64 = entry.zip64 ?? false;
  const extra = zip64
    ? Buffer.concat([zip64Field(fields.unpacked, fields.packed, offset), fields.extra])
    : fields.extra;
  const folder = name.at(-1) === 0x2f;
  const mode = entry.mode ?? (folder ? 0o040755 : 0o100644);
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x02014b50, 0);
  head.writeUInt16LE(mode === 0 ? 20 : 0x0314, 4);
  head.writeUInt16LE(zip64 ? 45 : 20, 6);
  head.writeUInt16LE(fields.flags, 8);
  head.writeUInt16LE(fields.method, 10);
  head.writeUInt32LE(fields.crc32, 16);
  head.writeUInt32LE(zip64 ? saturated : fields.packed, 20);
  head.writeUInt32LE(zip64 ? saturated : fields.unpacked, 24);
  head.writeUInt16LE(name.length, 28);
  head.writeUInt16LE(extra.length, 30);
  head.writeUInt16LE(mode, 40);
  head.writeUInt32LE(zip64 ? saturated : offset, 42);
  return Buffer.concat([head, name, extra]);
}

function descriptorOf({ crc32: checksum, packed, unpacked }: Required<HeaderLies>): Buffer {
  const record = Buffer.alloc(16);
  record.writeUInt32LE(0x08074b50, 0);
  record.writeUInt32LE(checksum, 4);
  record.writeUInt32LE(packed, 8);
  record.writeUInt32LE(unpacked, 12);
  return record;
}

function endRecords(entries: number, size: number, offset: number, options: ZipOptions): Buffer[] {
  const parts: Buffer[] = [];
  if (options.zip64) {
    const record = Buffer.alloc(56);
    record.writeUInt32LE(0x06064b50, 0);
    record.writeBigUInt64LE(44n, 4);
    record.writeUInt16LE(45, 12);
    record.writeUInt16LE(45, 14);
    record.writeBigUInt64LE(BigInt(entries), 24);
    record.writeBigUInt64LE(BigInt(entries), 32);
    record.writeBigUInt64LE(BigInt(size), 40);
    record.writeBigUInt64LE(BigInt(offset), 48);
    if (typeof options.zip64 === 'function') options.zip64(record);
    const locator = Buffer.alloc(20);
    locator.writeUInt32LE(0x07064b50, 0);
    locator.writeBigUInt64LE(BigInt(offset + size), 8);
    locator.writeUInt32LE(1, 16);
    parts.push(record, locator);
  }
  const comment = Buffer.from(options.comment ?? '');
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(options.zip64 ? 0xffff : entries, 8);
  end.writeUInt16LE(options.zip64 ? 0xffff : entries, 10);
  end.writeUInt32LE(options.zip64 ? saturated : size, 12);
  end.writeUInt32LE(options.zip64 ? saturated : offset, 16);
  end.writeUInt16LE(comment.length, 20);
  options.end?.(end);
  return [...parts, end, comment];
}

/** Returns a manifest whose commands all run `install.sh`. `fields` replaces fields of its `handlerManifest`. */
export function manifestOf(fields: Record<string, unknown> = {}): string {
  const command = './install.sh';
  return JSON.stringify([
    {
      version: 1.0,
      handlerManifest: {
        installCommand: command,
        uninstallCommand: command,
        updateCommand: command,
        enableCommand: command,
        disableCommand: command,
        rebootAfterInstall: false,
        reportHeartbeat: true,
        ...fields,
      },
    },
  ]);
}

/** Returns the two entries of the smallest package that is accepted without a warning. */
export function packageEntries(manifest: string | Buffer = manifestOf()): ZipEntry[] {
  return [
    { name: 'HandlerManifest.json', data: manifest },
    { name: 'install.sh', data: '#!/bin/sh\nexit 0\n', mode: 0o100755 },
  ];
}
