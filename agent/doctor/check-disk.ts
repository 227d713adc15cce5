import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { sentenceOf } from '../agent-error.ts';
import type { ExaminedMachine } from './examined-machine.ts';
import { type DoctorFinding, verdictsOf } from './finding.ts';

const mebibyte = 1024 * 1024;
/** With less free space, reports and outputs may be lost. */
const leastBytes = 64 * mebibyte;
/** The portal's default limit on the size of a package. */
const packageBytes = 512 * mebibyte;
const leastFiles = 500;

const { good, advice, bad } = verdictsOf('disk');

/** Checks that reports can be stored and packages unpacked. */
export async function checkDisk({ layout, space }: ExaminedMachine): Promise<DoctorFinding[]> {
  let path = layout.root;
  while (!existsSync(path)) path = dirname(path);
  let found: Awaited<ReturnType<typeof space>>;
  try {
    found = await space(path);
  } catch (error) {
    return [bad({ what: `The disk of ${path} cannot be measured: ${sentenceOf(error)}.`, toDo: 'Check the disk.' })];
  }
  const { freeBytes, freeFiles, allFiles } = found;
  const free = `${Math.floor(freeBytes / mebibyte)} MiB are free on the disk of ${path}`;
  const toDo = `Free some space, for example by deleting old logs below ${layout.logs}, or use --dir on another disk.`;
  if (freeBytes < leastBytes)
    return [bad({ what: `The disk is full: ${free}, so reports and output are lost.`, toDo })];
  if (allFiles > 0 && freeFiles < leastFiles) {
    return [bad({ what: `The disk of ${path} has room for only ${freeFiles} more files.`, toDo })];
  }
  if (freeBytes < packageBytes) return [advice({ what: `${free}. A large package does not fit.`, toDo })];
  return [good(`${free}.`)];
}
