import { metadataFileName } from '#protocol/formula-words.ts';

/** The contents of a zip, read in the browser for a preview. The portal checks the package again. */
export interface ZipContents {
  /** False only if the file is certainly not a zip; a file that the browser could not read counts as a zip. */
  isZip: boolean;
  files: { name: string; size: number }[];
  /** Text of HandlerManifest.json or metadata.yaml. */
  manifestText: string | null;
  /** Whether the root of the zip has the manifest of a formula, and not the manifest of a handler. */
  isFormula: boolean;
  /** The handler and version in the package's `manifest.xml`, which packages for Azure have. */
  stated: { handler: string; version: string } | null;
}

const unread: ZipContents = { isZip: true, files: [], manifestText: null, isFormula: false, stated: null };
const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
/** Maximum size in bytes of a zip's end record, including its comment. */
const tailBytes = 22 + 65_535;
const directoryLimit = 8 * 1024 * 1024;
const manifestLimit = 256 * 1024;

/** Reads the names and sizes of a zip's files and the text of its manifest, as far as possible. */
export async function readZip(file: Blob): Promise<ZipContents> {
  try {
    const tail = await view(file, Math.max(0, file.size - tailBytes), file.size);
    const end = findEnd(tail);
    if (end === null) return { ...unread, isZip: false };
    const [size, offset] = [tail.getUint32(end + 12, true), tail.getUint32(end + 16, true)];
    if (size > directoryLimit || offset + size > file.size) return unread;
    const entries = readEntries(await view(file, offset, offset + size));
    const textOf = async (wanted: string) => {
      const entry = entries.find(({ name }) => name === wanted);
      return entry === undefined ? null : readText(file, entry).catch(() => null);
    };
    const has = (wanted: string) => entries.some(({ name }) => name === wanted);
    const isFormula = has(metadataFileName) && !has('HandlerManifest.json');
    return {
      isZip: true,
      files: entries.filter(({ name }) => name !== '' && !name.endsWith('/')).map(({ name, size }) => ({ name, size })),
      manifestText: await textOf(isFormula ? metadataFileName : 'HandlerManifest.json'),
      isFormula,
      stated: statedIn(await textOf('manifest.xml')),
    };
  } catch {
    return unread;
  }
}

/** Returns the name of a formula in its metadata; null if the metadata has none. */
export const formulaNameIn = (metadata: string | null): string | null =>
  /^name:[ \t]*["']?([A-Za-z0-9_-]+)/m.exec(metadata ?? '')?.[1] ?? null;

/**
 * Returns the handler and the version in `<ExtensionImage>`: `<ProviderNameSpace>`, `<Type>` and `<Version>`, in any
 * XML namespace.
 */
function statedIn(xml: string | null): ZipContents['stated'] {
  if (xml === null) return null;
  const root = new DOMParser().parseFromString(xml, 'text/xml').documentElement;
  const textOf = (name: string) =>
    [...root.children].find((child) => child.localName === name)?.textContent?.trim() ?? '';
  const [namespace, type, version] = [textOf('ProviderNameSpace'), textOf('Type'), textOf('Version')];
  return namespace === '' || type === '' ? null : { handler: `${namespace}.${type}`, version };
}

interface Entry {
  name: string;
  size: number;
  packed: number;
  method: number;
  offset: number;
}

async function view(file: Blob, from: number, to: number): Promise<DataView> {
  return new DataView(await file.slice(from, to).arrayBuffer());
}

function findEnd(tail: DataView): number | null {
  for (let at = tail.byteLength - 22; at >= 0; at -= 1) if (tail.getUint32(at, true) === endSignature) return at;
  return null;
}

function readEntries(directory: DataView): Entry[] {
  const entries: Entry[] = [];
  const decoder = new TextDecoder();
  let at = 0;
  while (at + 46 <= directory.byteLength && directory.getUint32(at, true) === entrySignature) {
    const nameLength = directory.getUint16(at + 28, true);
    if (at + 46 + nameLength > directory.byteLength) break;
    entries.push({
      name: decoder.decode(new Uint8Array(directory.buffer, directory.byteOffset + at + 46, nameLength)),
      method: directory.getUint16(at + 10, true),
      packed: directory.getUint32(at + 20, true),
      size: directory.getUint32(at + 24, true),
      offset: directory.getUint32(at + 42, true),
    });
    at += 46 + nameLength + directory.getUint16(at + 30, true) + directory.getUint16(at + 32, true);
  }
  return entries;
}

async function readText(file: Blob, { size, packed, method, offset }: Entry): Promise<string | null> {
  if (size > manifestLimit || packed > manifestLimit || (method !== 0 && method !== 8)) return null;
  const header = await view(file, offset, offset + 30);
  const start = offset + 30 + header.getUint16(26, true) + header.getUint16(28, true);
  const data = file.slice(start, start + packed);
  if (method === 0) return data.text();
  return boundedText(data.stream().pipeThrough(new DecompressionStream('deflate-raw')));
}

/** Decodes a stream, but stops after the limit, because the size that the zip declares may be wrong. */
async function boundedText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > manifestLimit) {
      await reader.cancel();
      return text;
    }
  }
}
