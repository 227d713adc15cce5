import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ZipFile } from 'yazl';

/** A sample handler, as a publisher would write it, for the demo and for tests. */
export interface Sample {
  handler: string;
  version: string;
  publisher: { namespace: string; displayName: string };
  /** Valid settings, including protected settings if the handler requires any. */
  settings: { publicSettings: Record<string, unknown>; protectedSettings?: Record<string, unknown> };
}

const acme = { namespace: 'Acme.Lab', displayName: 'Acme Lab' };
const storage = { namespace: 'Northwind.Storage', displayName: 'Northwind Storage' };
const backup = { namespace: 'Northwind.Backup', displayName: 'Northwind Backup' };
const orbit = { namespace: 'Orbit.Metrics', displayName: 'Orbit Metrics' };
const helix = { namespace: 'Helix.Security', displayName: 'Helix Security' };

export const samples: readonly Sample[] = [
  {
    handler: 'Acme.Lab.Probe',
    version: '1.0.0.0',
    publisher: acme,
    settings: { publicSettings: { target: 'www.example.net' } },
  },
  {
    handler: 'Acme.Lab.Probe',
    version: '1.1.0.0',
    publisher: acme,
    settings: { publicSettings: { target: 'www.example.net', maxMilliseconds: 250 } },
  },
  {
    handler: 'Northwind.Storage.Mount',
    version: '2.0.0.0',
    publisher: storage,
    settings: {
      publicSettings: { server: 'files.example.net', user: 'backup' },
      protectedSettings: { password: 'sample password' },
    },
  },
  {
    handler: 'Northwind.Backup.Snapshot',
    version: '1.2.0.0',
    publisher: backup,
    settings: { publicSettings: { retain: 7 } },
  },
  {
    handler: 'Orbit.Metrics.NodeMetrics',
    version: '3.1.0.0',
    publisher: orbit,
    settings: { publicSettings: { warnAtPercent: 0 } },
  },
  {
    handler: 'Helix.Security.Baseline',
    version: '5.0.0.0',
    publisher: helix,
    settings: { publicSettings: { rules: 6, secondsPerRule: 10 } },
  },
];

/** A sample formula, as a publisher would write it. */
export interface SampleFormula {
  /** The id, in the namespace of `publisher`. */
  formula: string;
  version: string;
  publisher: { namespace: string; displayName: string };
}

export const sampleFormulas: readonly SampleFormula[] = [
  { formula: 'Acme.Lab.blog', version: '1.0.0.0', publisher: acme },
  { formula: 'Acme.Lab.blog', version: '1.1.0.0', publisher: acme },
  { formula: 'Acme.Lab.store', version: '1.0.0.0', publisher: acme },
];

/** The languages of the sample formulas. */
export const formulaLanguages = ['en', 'de'] as const;

export const sampleLanguages = ['en', 'de', 'ja'] as const;

/** Fixed, so that a package always has the same bytes and registering it again changes nothing. */
const time = new Date(2026, 0, 1, 12);

/** The package of a sample as a zip. Throws for an unknown sample. */
export async function samplePackage(handler: string, version: string): Promise<Buffer> {
  const folder = join(import.meta.dirname, handler, version);
  const zip = new ZipFile();
  const add = adderTo(zip);
  add('HandlerManifest.json', readFileSync(join(folder, 'HandlerManifest.json')), 0o100644);
  add('bin/handler.sh', readFileSync(join(import.meta.dirname, 'shared', 'handler.sh')), 0o100644);
  add('messages.en', englishTexts(handler), 0o100644);
  for (const name of readdirSync(join(folder, 'bin')).sort()) {
    add(`bin/${name}`, readFileSync(join(folder, 'bin', name)), 0o100755);
  }
  return bytesOf(zip);
}

/** The package of a sample formula as a zip. Throws for an unknown sample. */
export async function formulaPackage(formula: string, version: string): Promise<Buffer> {
  const folder = join(import.meta.dirname, formula, version);
  const zip = new ZipFile();
  const add = adderTo(zip);
  for (const name of ['metadata.yaml', 'config.yaml']) add(name, readFileSync(join(folder, name)), 0o100644);
  for (const [part, mode] of [
    ['hooks', 0o100755],
    ['lib', 0o100644],
  ] as const) {
    for (const name of readdirSync(join(folder, part)).sort()) {
      add(`${part}/${name}`, readFileSync(join(folder, part, name)), mode);
    }
  }
  return bytesOf(zip);
}

const adderTo = (zip: ZipFile) => (path: string, bytes: Buffer, mode: number) =>
  zip.addBuffer(bytes, path, { mtime: time, mode, forceDosTimestamp: true });

async function bytesOf(zip: ZipFile): Promise<Buffer> {
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The messages of a sample handler or formula in one language: the parsed resource file. */
export function sampleResource(handler: string, lang: (typeof sampleLanguages)[number]): unknown {
  return json(handler, 'resources', `${lang}.json`);
}

/** `{ publicSettings, protectedSettings? }`: the schemas that the sample's publisher registers. */
export function sampleSchema(handler: string): Record<string, unknown> {
  return json(handler, 'settings-schema.json') as Record<string, unknown>;
}

/** The English messages as the handler's own programs read them: id, tab, text. */
function englishTexts(handler: string): Buffer {
  const [file] = sampleResource(handler, 'en') as [{ messages: { id: string; text: string }[] }];
  return Buffer.from(file.messages.map(({ id, text }) => `${id}\t${text}\n`).join(''));
}

function json(...path: string[]): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, ...path), 'utf8'));
}
