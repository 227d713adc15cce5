import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { defaultPath } from '../handler/environment.ts';
import { type DoctorFinding, verdictsOf } from './finding.ts';

const { good, advice, bad } = verdictsOf('programs');

/** Checks for the programs that every handler may rely on. */
export function checkPrograms(path = defaultPath): DoctorFinding[] {
  if (!isProgram('/bin/sh')) {
    return [bad({ what: '/bin/sh is missing. All commands run in it.', toDo: 'Install a POSIX shell.' })];
  }
  if (!path.split(':').some((place) => isProgram(join(place, 'openssl')))) {
    const what = 'openssl is missing. Handlers that use it to decrypt their protected settings fail.';
    return [advice({ what, toDo: 'Install it: apt-get install openssl' })];
  }
  return [good('/bin/sh and openssl are there.')];
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
