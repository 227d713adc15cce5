import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, commandNames, type HandlerManifest, manifestFileName, readManifest } from '#protocol/index.ts';
import { sentenceOf } from '../agent-error.ts';
import { unpack } from '../handler/unpack.ts';
import { faultSentence } from './fault-sentence.ts';

/** Unpacks a package and reads its manifest. Returns the faults of both as sentences (AZ-P2, AZ-P3, AZ-P4). */
export async function readPackage(
  zip: string,
  folder: string,
): Promise<{ manifest: HandlerManifest | null; faults: string[] }> {
  mkdirSync(folder, { recursive: true });
  try {
    await unpack(zip, folder);
  } catch (error) {
    return { manifest: null, faults: [`The package cannot be unpacked: ${sentenceOf(error)}.`] };
  }
  const path = join(folder, manifestFileName);
  if (!existsSync(path)) return { manifest: null, faults: [absenceOf(folder)] };
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch {
    return { manifest: null, faults: [`${manifestFileName} is not valid JSON.`] };
  }
  const read = readManifest(parsed);
  if ('faults' in read) {
    return { manifest: null, faults: read.faults.map((fault) => `${manifestFileName}: ${faultSentence(fault)}`) };
  }
  return { manifest: read.manifest, faults: programFaults(read.manifest, folder) };
}

function absenceOf(folder: string): string {
  const inside = readdirSync(folder).find((name) => existsSync(join(folder, name, manifestFileName)));
  const where = inside === undefined ? '' : ` It is in ${inside}/: zip the contents of that folder.`;
  return `${manifestFileName} is not in the root of the package.${where}`;
}

function programFaults(manifest: HandlerManifest, folder: string): string[] {
  return commandNames.flatMap((name) => {
    const program = /^[^\s'"\\$`;&|<>()]+/.exec(commandLine(manifest, name))?.[0] ?? '';
    if (program.startsWith('/') || program.split('/').includes('..')) {
      return [`The program of ${name}, ${program}, is outside the package.`];
    }
    if (!program.includes('/') && !/\.\w+$/.test(program)) return [];
    return existsSync(join(folder, program)) ? [] : [`The program of ${name}, ${program}, is not in the package.`];
  });
}
